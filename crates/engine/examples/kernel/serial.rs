//! Text to the serial port.

use core::fmt::{self, Write};
use core::panic::PanicInfo;

use lock_api::Mutex;

use crate::lock::InterruptLock;
use crate::port;

const PORT: u16 = 0x3f8;
const LINE_STATUS: u16 = PORT + 5;
const CAN_SEND: u8 = 0x20;

/// The first serial port. Interrupts may print as well.
pub(crate) static SERIAL: Mutex<InterruptLock, Serial> = Mutex::new(Serial);

pub(crate) struct Serial;

/// Prints a line.
macro_rules! line {
    ($($args:tt)*) => {{
        use core::fmt::Write;
        // Writing to the port never fails.
        let _ = writeln!($crate::serial::SERIAL.lock(), $($args)*);
    }};
}
pub(crate) use line;

impl Write for Serial {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            while port::read(LINE_STATUS) & CAN_SEND == 0 {}
            port::write(PORT, byte);
        }
        Ok(())
    }
}

/// Sets the port to 115200 baud, eight bits, no interrupts.
pub(crate) fn set_up() {
    for (offset, value) in [(1, 0), (3, 0x80), (0, 1), (1, 0), (3, 3), (2, 7)] {
        port::write(PORT + offset, value);
    }
}

/// Prints without the lock, because the panicking CPU may hold it, and ends QEMU.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let _ = writeln!(Serial, "\n{info}");
    port::exit(false)
}
