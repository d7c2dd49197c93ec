# The entries of both CPUs, down to `kernel_main` in long mode, and the entries of interrupts.

# Where the loader of a PVH guest jumps to: XEN_ELFNOTE_PHYS32_ENTRY.
    .section .note.Xen, "a", @note
    .balign 4
    .long 4, 8, 18
    .asciz "Xen"
    .quad _start

    .set GIBIBYTES, 8
    .set CODE32, 0x08
    .set CODE64, 0x10
    .set DATA, 0x18

    .section .text.boot, "ax"

# CPU 0: 32 bits, flat segments, no paging; ebx has the address of the start info.
    .code32
    .globl _start
_start:
    cli
    cld
    movl $__bss_start, %edi
    movl $_end, %ecx
    subl %edi, %ecx
    xorl %eax, %eax
    rep stosb

# Virtual addresses are physical ones, in pages of 2 MiB.
    xorl %ecx, %ecx
1:  movl %ecx, %eax
    shll $21, %eax
    orl $0x83, %eax
    movl %eax, page_directories(, %ecx, 8)
    movl %ecx, %eax
    shrl $11, %eax
    movl %eax, page_directories + 4(, %ecx, 8)
    incl %ecx
    cmpl $(GIBIBYTES * 512), %ecx
    jb 1b

    xorl %ecx, %ecx
    movl $page_directories + 3, %eax
2:  movl %eax, page_pointers(, %ecx, 8)
    addl $4096, %eax
    incl %ecx
    cmpl $GIBIBYTES, %ecx
    jb 2b
    movl $page_pointers + 3, %eax
    movl %eax, page_root

    xorl %ebp, %ebp

# Both CPUs: ebp has the CPU's number.
enter_long_mode:
    lgdt gdt_pointer
    movl $0x20, %eax
    movl %eax, %cr4
    movl $page_root, %eax
    movl %eax, %cr3
    movl $0xc0000080, %ecx
    rdmsr
    orl $0x100, %eax
    wrmsr
    movl $0x80010011, %eax
    movl %eax, %cr0
    ljmp $CODE64, $long_mode

    .code64
long_mode:
    movw $DATA, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %ss
    movl %ebp, %edi
    movl %ebx, %esi
    leal 1(%ebp), %eax
    shll $16, %eax
    leaq stacks(%rax), %rsp
    call kernel_main
    ud2

# CPU 1, copied to TRAMPOLINE: real mode.
    .code16
    .globl trampoline
    .globl trampoline_end
trampoline:
    cli
    xorw %ax, %ax
    movw %ax, %ds
    lgdtl trampoline_gdt - trampoline + 0x8000
    movl %cr0, %eax
    orb $1, %al
    movl %eax, %cr0
    ljmpl $CODE32, $second_cpu
trampoline_gdt:
    .word 31
    .long gdt
trampoline_end:

    .code32
second_cpu:
    movw $DATA, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %ss
    movl $1, %ebp
    jmp enter_long_mode

# Interrupts. The processor aligns the stack to 16 bytes and pushes five words; the timer's entry pushes nine.
    .code64
    .globl timer_entry
timer_entry:
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    cld
    call timer_interrupt
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rax
    iretq

    .globl spurious_entry
spurious_entry:
    iretq

# Entries of the processor's own exceptions, 16 bytes each.
    .balign 16
    .globl fault_entries
fault_entries:
    .irp vector, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    .balign 16
    pushq $\vector
    jmp fault_entry
    .endr
fault_entry:
    movq %rsp, %rdi
    andq $-16, %rsp
    cld
    call fault
    ud2

    .section .rodata.boot, "a"
    .balign 8
gdt:
    .quad 0
    .quad 0x00cf9b000000ffff
    .quad 0x00af9b000000ffff
    .quad 0x00cf93000000ffff
gdt_pointer:
    .word 31
    .long gdt

    .section .bss.boot, "aw", @nobits
    .balign 4096
page_root:
    .skip 4096
page_pointers:
    .skip 4096
page_directories:
    .skip 4096 * GIBIBYTES
stacks:
    .skip 2 * 65536
