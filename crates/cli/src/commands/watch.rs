//! `freehold watch`: runs a command when memory passes a threshold.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Instant;

use anyhow::anyhow;
use freehold_linux::pageblocks::Pace;
use freehold_linux::sample::Sampler;
use freehold_monitor::model::Model;
use freehold_monitor::series::Monitor;
use freehold_monitor::threshold::{Quantity, Threshold, Zones};

use super::needs::{needs, one_huge_page};
use super::thresholds::Thresholds;
use crate::args::Watch;
use crate::exit::{Cause, Failure};
use crate::output;

/// The exit code at the time limit, as of timeout(1).
const TIMED_OUT: u8 = 124;

/// The exit code if the command cannot be started, as of env(1).
const CANNOT_START: u8 = 126;

pub(crate) fn run(args: &Watch) -> Result<ExitCode, Failure> {
    refuse_without_effect(args)?;
    let mut sampler = Sampler::open(&args.sensing.root, args.sensing.sensor.into())?;
    let zones = Zones { name: args.zone.clone(), node: args.node };
    let mut above = args.above.clone();
    if above.is_empty() && args.below.is_empty() {
        above.push(Threshold { quantity: Quantity::Verdict, value: 1.0 });
    }
    let thresholds = Thresholds::new(&above, &args.below, zones);
    let mut needs = needs(&args.needs, &args.sensing.root, sampler.machine())?;
    if thresholds.need_pageblocks() {
        sampler.survey_pageblocks(Pace::AtOnce);
        if needs.is_empty() {
            needs.push(one_huge_page(&args.sensing.root, sampler.machine())?);
        }
    }
    let mut monitor = Monitor::new(sampler.machine().clone()).with_needs(needs);
    let started = Instant::now();
    let mut true_since = None;
    let mut notes = Vec::new();
    let mut has_begun = false;
    loop {
        let looked = Instant::now();
        let model = monitor.take(sampler.sample()?);
        thresholds.check(&model)?;
        if !args.quiet && notes != model.notes {
            notes.clone_from(&model.notes);
            output::notes(&notes);
        }
        if !args.quiet && !std::mem::replace(&mut has_begun, true) {
            output::note(&format!("freehold: waiting: {}", thresholds.waiting(&model)));
        }
        match reason(&thresholds, &model) {
            Some(reason) => {
                let since = *true_since.get_or_insert(looked);
                if args.duration.is_none_or(|hold| since.elapsed() >= hold) {
                    // The sampler's files and BPF programs are closed before the
                    // command runs.
                    drop(sampler);
                    return act(&args.command, &reason);
                }
            }
            None => true_since = None,
        }
        let left = args.timeout.map(|timeout| timeout.saturating_sub(started.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            output::note("freehold: the threshold was not passed in time");
            return Ok(ExitCode::from(TIMED_OUT));
        }
        let pause = args.interval.saturating_sub(looked.elapsed());
        thread::sleep(left.map_or(pause, |left| left.min(pause)));
    }
}

/// Fails without a condition, and for zones that no condition is about.
fn refuse_without_effect(args: &Watch) -> Result<(), Failure> {
    let conditions = args.above.iter().chain(&args.below);
    let refused = |what| Err(Failure::new(Cause::Usage, anyhow!("{what}")));
    if conditions.clone().next().is_none() && args.needs.need.is_empty() {
        return refused("give a condition: --need 2M=500, --above METRIC=VALUE or --below METRIC=VALUE");
    }
    let has_zones = args.zone.is_some() || args.node.is_some();
    if has_zones && conditions.clone().all(|threshold| threshold.quantity.needs_pageblocks()) {
        return refused("--zone and --node are for other metrics: verdict and probability are of all zones");
    }
    Ok(())
}

/// Returns what was measured if all thresholds are passed.
fn reason(thresholds: &Thresholds, model: &Model) -> Option<String> {
    Some(thresholds.passed(model).collect::<Option<Vec<_>>>()?.join(", "))
}

/// Replaces this process by the command, so that signals to this process reach the command.
fn act(command: &[String], reason: &str) -> Result<ExitCode, Failure> {
    let Some((program, arguments)) = command.split_first() else {
        output::print(reason)?;
        return Ok(ExitCode::SUCCESS);
    };
    output::note(&format!("freehold: {reason}"));
    let error = Command::new(program).args(arguments).env("FREEHOLD_REASON", reason).exec();
    output::note(&format!(
        "freehold: cannot start `{program}`: {error}. Check its name, its path and its permissions"
    ));
    Ok(ExitCode::from(CANNOT_START))
}
