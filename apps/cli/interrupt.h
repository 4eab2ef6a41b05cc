// SPDX-License-Identifier: Apache-2.0
// Ctrl-C. Running work is asked to stop and leaves by its own doors, which takes milliseconds where it looks often
// enough. Whatever it is busy with, the program ends within a second: then unfinished files are removed for it.
#pragma once

namespace supple {

/// From now on the first Ctrl-C (or SIGTERM) asks running work to stop; a second one ends the program at once.
void stop_on_interrupt();
bool interrupted();
/// The program says itself how it ends; an interrupt that comes in time ends it silently.
void tell_no_more_of_interrupts();

}  // namespace supple
