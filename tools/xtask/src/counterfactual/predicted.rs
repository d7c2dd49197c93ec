//! Runs `freehold predict --against` for a case and reads its output.

use std::path::{Path, PathBuf};
use std::process::Command;

use freehold_lab::predict::PredictionVerdict;
use serde::Deserialize;

use super::cases::Case;

/// A measure, as `freehold predict --json` has it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Measure {
    #[serde(rename = "measure")]
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) before: Option<f64>,
    pub(crate) before_sd: Option<f64>,
    pub(crate) predicted: Option<f64>,
    pub(crate) predicted_sd: Option<f64>,
    pub(crate) observed: Option<f64>,
    pub(crate) observed_sd: Option<f64>,
    pub(crate) verdict: PredictionVerdict,
    /// Why the verdict is undecided.
    pub(crate) why: Option<String>,
    /// The value of each recording before the change.
    pub(crate) before_each: Option<Vec<f64>>,
    /// The predicted value for each of these recordings.
    pub(crate) predicted_each: Option<Vec<f64>>,
    /// The value of each recording under the change.
    pub(crate) observed_each: Option<Vec<f64>>,
}

/// A prediction, as `freehold predict --json` has it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Prediction {
    pub(crate) kernel_release: String,
    /// The time to move a page in nanoseconds; `None` if the recordings have too few compactions.
    pub(crate) page_move_ns: Option<u64>,
    pub(crate) measures: Vec<Measure>,
}

/// A case with its prediction.
#[derive(Debug)]
pub(crate) struct ScoredCase {
    pub(crate) case: Case,
    /// The time to move a page that was given to `freehold predict`, in nanoseconds.
    pub(crate) page_move_ns: Option<u64>,
    /// The prediction, or the error message of `freehold predict`.
    pub(crate) prediction: Result<Prediction, String>,
}

/// The exit code of `freehold` if the recordings do not fit together or do not allow a prediction.
const REFUSED: i32 = 2;

/// Runs `freehold predict` on the recordings `before`, and compares with the recordings `after`. Both are paths below
/// `folder`. `page_move_ns` is the time to move a page, if it is known.
///
/// # Errors
/// If the program fails with another exit code, or its output cannot be read.
pub(crate) fn scored(
    freehold: &Path,
    folder: &Path,
    case: Case,
    [before, after]: [&[PathBuf]; 2],
    page_move_ns: Option<u64>,
) -> Result<ScoredCase, String> {
    let mut predict = Command::new(freehold);
    predict.current_dir(folder).arg("predict").args(before);
    match case.after.setting {
        _ if case.after.kernel != case.before.kernel => {
            predict.args(["--set", &format!("era={}", case.after.kernel.era)]);
        }
        Some(setting) => {
            predict.arg("--set").arg(setting.to_string());
        }
        None => return Err(format!("{}: nothing changes", case.name())),
    }
    if let Some(ns) = page_move_ns {
        predict.args(["--page-move-ns", &ns.to_string()]);
    }
    predict.arg("--against").args(after).arg("--json");
    let ran = predict.output().map_err(|error| format!("{}: {error}", freehold.display()))?;
    let complaint = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
    let prediction = match ran.status.code() {
        Some(0) => {
            let read = serde_json::from_slice(&ran.stdout);
            Ok(read.map_err(|error| format!("{}: predict's output cannot be read: {error}", case.name()))?)
        }
        Some(REFUSED) => Err(complaint),
        _ => return Err(format!("{}: {complaint}", case.name())),
    };
    Ok(ScoredCase { case, page_move_ns, prediction })
}
