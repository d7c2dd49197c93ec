//! Checks that the files in `contrib` for Kubernetes, node-problem-detector and containers match the program.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::manifests::{contrib, daemonset, strings};
use crate::serve_common::{Machine, Server};

/// Holds arguments against what the program says of itself.
fn check_arguments(args: &[String]) {
    let help = Command::new(env!("CARGO_BIN_EXE_freehold")).args([&args[0], "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for option in args[1..].iter().filter(|arg| arg.starts_with("--")) {
        assert!(
            help.contains(&format!("{option} ")) || help.contains(&format!("{option}\n")),
            "{option}: {help}"
        );
    }
}

/// The port that `--listen` names.
fn port(args: &[String]) -> String {
    let listen = args.iter().position(|arg| arg == "--listen").expect("an address");
    args[listen + 1].rsplit_once(':').expect("a port").1.to_owned()
}

#[test]
fn the_daemonset_fits_itself_and_the_program() {
    let documents = daemonset();
    let kinds: Vec<_> = documents
        .iter()
        .map(|it| (it["apiVersion"].as_str().unwrap(), it["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        [("v1", "Namespace"), ("apps/v1", "DaemonSet"), ("networking.k8s.io/v1", "NetworkPolicy")]
    );
    let (namespace, set, policy) = (&documents[0], &documents[1], &documents[2]);
    let template = &set["spec"]["template"];
    let labels = &template["metadata"]["labels"];
    assert!(!labels.as_object().unwrap().is_empty());
    assert_eq!(&set["spec"]["selector"]["matchLabels"], labels);
    assert_eq!(&policy["spec"]["podSelector"]["matchLabels"], labels);
    for it in [set, policy] {
        assert_eq!(it["metadata"]["namespace"], namespace["metadata"]["name"]);
    }
    let [container] = &template["spec"]["containers"].as_array().unwrap()[..] else {
        panic!("one container")
    };
    let args = strings(&container["args"]);
    assert_eq!(args[0], "serve");
    check_arguments(&args);
    let port = port(&args);
    assert_eq!(container["ports"][0]["containerPort"], port);
    assert_eq!(policy["spec"]["ingress"][0]["ports"][0]["port"], port);
    let annotations = &template["metadata"]["annotations"];
    assert_eq!(annotations["prometheus.io/port"], port);
    let name = &container["ports"][0]["name"];
    assert_eq!(&container["readinessProbe"]["httpGet"]["port"], name);
    assert_eq!(&container["livenessProbe"]["tcpSocket"]["port"], name);
    assert!(container.get("volumeMounts").is_none() && template["spec"].get("volumes").is_none());

    let machine = Machine::new();
    let mut open = Server::start_with(&machine, &["--listen", "0.0.0.0:0"]);
    open.address = open.address.replace("0.0.0.0", "127.0.0.1");
    for path in [&container["readinessProbe"]["httpGet"]["path"], &annotations["prometheus.io/path"]] {
        let path = path.as_str().unwrap();
        assert_eq!(open.ask("GET", path, "10.1.2.3").status, 200, "{path}");
    }
}

#[test]
fn the_rights_of_the_daemonset_are_those_of_the_unit() {
    let documents = daemonset();
    let container = &documents[1]["spec"]["template"]["spec"]["containers"][0];
    let context = &container["securityContext"];
    assert_eq!(strings(&context["capabilities"]["drop"]), ["ALL"]);
    let added = strings(&context["capabilities"]["add"]);
    let unit = fs::read_to_string(contrib("systemd/freehold.service")).unwrap();
    for capability in &added {
        assert!(unit.contains(&format!("CAP_{capability}")), "{capability}");
    }
    assert_eq!(context["runAsUser"], "0");
}

#[test]
fn the_container_starts_what_there_is() {
    let text = fs::read_to_string(contrib("container/Containerfile")).unwrap();
    let line = |start: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(start));
        found.unwrap_or_else(|| panic!("no {start}")).trim().to_owned()
    };
    let args: Vec<String> = serde_json::from_str(&line("CMD ")).unwrap();
    check_arguments(&args);
    assert_eq!(line("EXPOSE "), port(&args));
    assert_eq!(serde_json::from_str::<Vec<String>>(&line("ENTRYPOINT ")).unwrap(), ["/freehold"]);
    assert_eq!(line("COPY "), "freehold /freehold");
}

#[test]
fn the_plugins_configuration_fits_itself_and_the_program() {
    let text = fs::read_to_string(contrib("node-problem-detector/freehold.json")).unwrap();
    let config: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(config["plugin"], "custom");
    let seconds = |value: &Value| value.as_str().unwrap().strip_suffix('s').unwrap().parse::<u32>().unwrap();
    let conditions: Vec<_> = config["conditions"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    for rule in config["rules"].as_array().unwrap() {
        assert!(conditions.contains(&&rule["condition"]), "{rule}");
        assert!(seconds(&rule["timeout"]) <= seconds(&config["pluginConfig"]["timeout"]), "{rule}");
        let path = Path::new(rule["path"].as_str().unwrap());
        assert!(contrib("node-problem-detector").join(path.file_name().unwrap()).exists());
        let mut args = vec!["check".to_owned()];
        args.extend(strings(&rule["args"]));
        check_arguments(&args);
    }
}
