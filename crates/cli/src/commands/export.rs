//! `ramline export`: metrics for Prometheus and whatever else reads its formats.

mod listen;
mod readings;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use ramline_export::{Form, Limits};
use ramline_kernel::output::Format as Kind;

use crate::prelude::*;
use readings::Readings;

/// Print metrics for Prometheus: refaults, distance to reclaim, pressure, swap, zram, groups, findings
///
/// Without --textfile or --listen they are printed once. Alert rules and a dashboard are in /usr/share/ramline;
/// 'ramline generate metrics' prints every name.
#[derive(Debug, Clone, Args)]
pub struct Export {
    /// Print them once to standard output, as without any option
    #[arg(long, conflicts_with_all = ["textfile", "listen"])]
    once: bool,
    /// Write DIR/ramline.prom for node_exporter's textfile collector, in one step
    #[arg(long, value_name = "DIR", conflicts_with = "listen")]
    textfile: Option<PathBuf>,
    /// With --textfile: write it again and again, until Ctrl-C
    #[arg(long, value_name = "TIME", value_parser = duration::parse, requires = "textfile")]
    every: Option<Duration>,
    /// Answer http://ADDRESS/metrics until Ctrl-C [default: 127.0.0.1:9821]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:9821")]
    listen: Option<SocketAddr>,
    /// With --listen: allow an address that other machines can reach; there is no password and no encryption
    #[arg(long, requires = "listen")]
    public: bool,
    /// Control groups: half of them the largest, half those that wait most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(0..=1000))]
    groups: u16,
    /// The format of what is printed [default: openmetrics]; --textfile is always prometheus, and --listen as the client asks
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with_all = ["textfile", "listen"])]
    format: Option<Written>,
}

/// A format by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Written {
    /// OpenMetrics 1.0.0
    Openmetrics,
    /// Prometheus' text format 0.0.4, as promtool reads it
    Prometheus,
}

/// What node_exporter takes: files whose name ends so.
const FILE: &str = "ramline.prom";
/// The file as it is recognised when a killed run has left a part of it; it is for node_exporter, which is another user.
const TEXT: Kind = Kind { begins: b"# TYPE ramline_build", mode: 0o644 };

impl Export {
    /// Runs the command.
    ///
    /// # Errors
    /// The source cannot be used; the place cannot be written, or the address not listened at.
    pub fn run(&self, source: &Source) -> Result<u8> {
        let limits = Limits { groups: usize::from(self.groups) };
        let mut readings = Readings::new(source, limits);
        if let Some(dir) = &self.textfile {
            return self.write(dir, &mut readings);
        }
        if let Some(address) = self.listen {
            source.must_be_live("export --listen")?;
            self.may_listen(address)?;
            return listen::listen(address, readings);
        }
        let form = if self.format == Some(Written::Prometheus) { Form::Prometheus } else { Form::OpenMetrics };
        output::text(&readings.text(form)?)?;
        Ok(readings.code())
    }

    fn write(&self, dir: &Path, readings: &mut Readings<'_>) -> Result<u8> {
        ensure!(
            dir.is_dir(),
            Failure::usage(format!(
                "--textfile {}: not a directory\n  try: the directory that node_exporter has as --collector.textfile.directory",
                dir.display()
            ))
        );
        signals::install();
        let path = dir.join(FILE);
        let hint = "ramline export --once --format prometheus";
        loop {
            let begun = Instant::now();
            let place = place::open(&path, TEXT, hint)?;
            place.write(readings.text(Form::Prometheus)?.as_bytes())?;
            let Some(every) = self.every else { return Ok(readings.code()) };
            crate::watch::wait(begun + every);
            if signals::interrupted() {
                return Ok(exit::DONE);
            }
        }
    }

    fn may_listen(&self, address: SocketAddr) -> Result<()> {
        let own = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port());
        let text = || {
            format!(
                "--listen {address}: other machines can reach that address, and metrics say much of this one\n  try: ramline export --listen {own}, or add --public"
            )
        };
        ensure!(self.public || address.ip().is_loopback(), Failure::usage(text()));
        Ok(())
    }
}
