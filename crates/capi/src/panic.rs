//! What a panic does where there is no standard library. Nothing that a caller can give makes the engine panic.

use core::hint;
use core::panic::PanicInfo;

/// Stops this processor for good.
#[panic_handler]
fn stop(_: &PanicInfo<'_>) -> ! {
    loop {
        hint::spin_loop();
    }
}
