//! The arguments of the commands that read a machine.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use freehold_linux::sensor::Choice;
use freehold_monitor::threshold::Threshold;
use freehold_monitor::top::{Colour, INTERVAL_SECONDS};

use super::common::{parse_node, parse_seconds};
use super::need::Needs;
use super::page_size::parse_page_size;

/// The machine to read, and the sensor.
#[derive(Args, Clone, Debug)]
pub(crate) struct Sensing {
    /// The source of the numbers of free blocks.
    #[arg(long, value_enum, default_value_t = SensorChoice::Auto)]
    pub(crate) sensor: SensorChoice,
    /// Read the files below this folder instead of this machine's.
    #[arg(long, value_name = "PATH", default_value = "/", hide_default_value = true)]
    pub(crate) root: PathBuf,
}

/// The help of `--root` for the commands that also read copied files.
pub(super) const ROOT_OR_COPY: &str = "Read the files below this folder instead of this machine's, or those in a bug report, \
                                       a tar archive or a single file";

/// The source of the free blocks.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SensorChoice {
    /// BPF where it works, otherwise /proc.
    Auto,
    /// The kernel's fields, without its zone lock.
    Bpf,
    /// /proc/pagetypeinfo (takes the zone lock; rationed) and /proc/buddyinfo.
    Procfs,
}

impl From<SensorChoice> for Choice {
    fn from(choice: SensorChoice) -> Self {
        match choice {
            SensorChoice::Auto => Self::Auto,
            SensorChoice::Bpf => Self::Bpf,
            SensorChoice::Procfs => Self::Procfs,
        }
    }
}

#[derive(Args, Clone, Debug)]
#[command(after_help = SNAPSHOT_HELP, mut_arg("root", |root| root.help(ROOT_OR_COPY)))]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct Snapshot {
    #[command(flatten)]
    pub(crate) sensing: Sensing,
    /// The format of the output.
    #[arg(long, value_enum, default_value_t = SnapshotFormat::Pagetypeinfo)]
    pub(crate) format: SnapshotFormat,
    /// The page size of the machine below --root, such as 64K, if not in its files.
    #[arg(long, value_parser = parse_page_size, value_name = "SIZE", requires = "root")]
    pub(crate) page_size: Option<u64>,
    /// Print numbers above 100 000 in full, not as >100000.
    #[arg(long)]
    pub(crate) exact: bool,
    /// Write this file, not standard output; for metrics its name ends in .prom.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the output if it exists.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Repeat at this interval in seconds, at least 0.01; JSON has one line each time.
    #[arg(long, visible_alias = "interval", value_parser = parse_unseen_interval, value_name = "SECONDS")]
    pub(crate) follow: Option<Duration>,
    /// With --format metrics: all series, also by zone, order and migratetype.
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) needs: Needs,
    /// Print nothing on standard error but failures.
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl Snapshot {
    /// Returns the same of the machine below another root.
    pub(crate) fn below(&self, root: &Path) -> Self {
        let sensing = Sensing { root: root.to_owned(), ..self.sensing.clone() };
        Self { sensing, ..self.clone() }
    }
}

const SNAPSHOT_HELP: &str = "\
For node_exporter's textfile collector, once by a timer, or with --follow 15
again and again by a service (FOLDER is /var/lib/prometheus/node-exporter):
  freehold snapshot --format metrics --force -o FOLDER/freehold.prom
For a program that reads /proc/pagetypeinfo, without the zone lock (or
`freehold serve --socket PATH`):
  freehold snapshot --follow 1";

/// In which form free blocks are printed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SnapshotFormat {
    /// As /proc/pagetypeinfo.
    Pagetypeinfo,
    /// As /proc/buddyinfo.
    Buddyinfo,
    /// All values, with the indices.
    Json,
    /// As `/metrics` of `freehold serve`, in Prometheus's classic text format.
    Metrics,
}

#[derive(Args, Debug)]
#[command(after_help = WATCH_HELP)]
pub(crate) struct Watch {
    #[command(flatten)]
    pub(crate) sensing: Sensing,
    /// Wait until a metric is above a value; all conditions must hold at once.
    #[arg(long, value_name = "METRIC=VALUE")]
    pub(crate) above: Vec<Threshold>,
    /// Wait until a metric is below a value; all conditions must hold at once.
    #[arg(long, value_name = "METRIC=VALUE")]
    pub(crate) below: Vec<Threshold>,
    #[command(flatten)]
    pub(crate) needs: Needs,
    /// Only zones of this name; otherwise all zones together.
    #[arg(long, value_name = "NAME")]
    pub(crate) zone: Option<String>,
    /// Only zones of this node.
    #[arg(long, value_parser = parse_node, value_name = "N")]
    pub(crate) node: Option<u32>,
    /// Seconds between two samples, at least 0.01.
    #[arg(long, value_parser = parse_unseen_interval, value_name = "SECONDS", default_value = "1")]
    pub(crate) interval: Duration,
    /// Seconds for which the condition must hold before the command runs.
    #[arg(long, value_parser = parse_seconds, value_name = "SECONDS")]
    pub(crate) duration: Option<Duration>,
    /// Give up after this many seconds, with exit code 124.
    #[arg(long, value_parser = parse_seconds, value_name = "SECONDS")]
    pub(crate) timeout: Option<Duration>,
    /// Print nothing on standard error but failures.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// The command to run; without one, `watch` ends at the threshold.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

const WATCH_HELP: &str = "\
Metrics:
  unusable_index:ORDER  0 to 1
  extfrag_index:ORDER   0 to 1; no value while a block of the order is free
  blocks:ORDER          blocks of that order, also those in larger free blocks
  free_pages
  verdict               on --need, or one huge page, of all zones, as `freehold
                        check` ends: 0 OK, 1 WARNING, 2 CRITICAL; needs root
  probability           0 to 1: that a request gets all blocks of --need; needs
                        root
  pressure_some, pressure_full
                        percent of the last ten seconds

--need alone waits until the verdict on it is CRITICAL: --above verdict=1.

The command replaces freehold; FREEHOLD_REASON contains the measured values.
Exit codes: the command's; 0 without a command; 124 after --timeout; 126 if the
command cannot start; otherwise see `freehold --help`.";

#[derive(Args, Debug)]
pub(crate) struct Top {
    #[command(flatten)]
    pub(crate) sensing: Sensing,
    /// Seconds between two samples, 0.1 to 60; the keys + and - change it.
    #[arg(long, value_parser = parse_interval, value_name = "SECONDS", default_value = "1")]
    pub(crate) interval: Duration,
    #[command(flatten)]
    pub(crate) needs: Needs,
    /// When to use colours.
    #[arg(long, alias = "color", value_enum, default_value_t = ColourChoice::Auto, value_name = "WHEN")]
    pub(crate) colour: ColourChoice,
}

/// When to use colours.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ColourChoice {
    /// Unless `NO_COLOR` is set or the terminal has none.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl From<ColourChoice> for Colour {
    fn from(choice: ColourChoice) -> Self {
        match choice {
            ColourChoice::Auto => Self::Auto,
            ColourChoice::Always => Self::Always,
            ColourChoice::Never => Self::Never,
        }
    }
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok().filter(|seconds| INTERVAL_SECONDS.contains(seconds));
    let (least, most) = (INTERVAL_SECONDS.start(), INTERVAL_SECONDS.end());
    seconds.map(Duration::from_secs_f64).ok_or_else(|| format!("a number of seconds, {least} to {most}"))
}

#[derive(Args, Debug)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) sensing: Sensing,
    /// The address to listen on; other machines cannot reach a loopback address.
    #[arg(long, value_parser = parse_listen, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9321")]
    pub(crate) listen: SocketAddr,
    /// Seconds between two samples, at least 0.01; by default 1 while a page is open, otherwise 15.
    #[arg(long, value_parser = parse_unseen_interval, value_name = "SECONDS")]
    pub(crate) interval: Option<Duration>,
    #[command(flatten)]
    pub(crate) needs: Needs,
    /// Serve only the text of /proc/pagetypeinfo, read by BPF, on this Unix socket.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["listen", "interval", "web_config", "need"])]
    pub(crate) socket: Option<PathBuf>,
    /// A file with TLS keys and passwords, as --web.config.file of Prometheus's exporters;
    /// it is read again when it changes.
    #[arg(long, value_name = "FILE")]
    pub(crate) web_config: Option<PathBuf>,
}

fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let on_loopback = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let address = on_loopback.as_deref().unwrap_or(text).parse();
    address.map_err(|_| "an address and a port, such as 127.0.0.1:9321 or [::1]:9321".to_owned())
}

fn parse_unseen_interval(text: &str) -> Result<Duration, String> {
    let sensible = Duration::from_millis(10)..=Duration::from_hours(1);
    let interval = parse_seconds(text)?;
    if sensible.contains(&interval) { Ok(interval) } else { Err("0.01 to 3600 seconds".to_owned()) }
}
