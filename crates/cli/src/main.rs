//! The binary `ramline`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ramline_cli::run()
}
