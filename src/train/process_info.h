#pragma once
// What the operating system tells of this process.

namespace lockstep {

// Seconds since this process was started; 0 where /proc does not tell.
[[nodiscard]] double seconds_since_process_start();

// The highest resident memory of this process so far, in MiB; 0 where /proc does not tell.
[[nodiscard]] double peak_memory_mb();

}  // namespace lockstep
