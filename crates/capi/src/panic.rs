//! The panic handler without the standard library. No argument of a caller makes the engine panic.

use core::hint;
use core::panic::PanicInfo;

/// Stops this processor for ever.
#[panic_handler]
fn stop(_: &PanicInfo<'_>) -> ! {
    loop {
        hint::spin_loop();
    }
}
