//! The files of `contrib`, and those of Kubernetes read as JSON.

use std::fs;
use std::path::{Path, PathBuf};

use granit_parser::{Event, Parser};
use serde_json::{Map, Value};

pub(crate) fn contrib(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib").join(name)
}

/// The documents of a text in YAML.
fn documents(text: &str) -> Vec<Value> {
    let mut events = Parser::new_from_str(text).map(|event| event.expect("YAML").0);
    let mut documents = Vec::new();
    while let Some(event) = events.next() {
        if !matches!(
            event,
            Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd
        ) {
            documents.push(node(event, &mut events));
        }
    }
    documents
}

fn node<'t>(event: Event<'t>, events: &mut impl Iterator<Item = Event<'t>>) -> Value {
    match event {
        Event::Scalar(text, ..) => Value::String(text.into_owned()),
        Event::SequenceStart(..) => {
            let mut list = Vec::new();
            loop {
                match events.next().expect("an end") {
                    Event::SequenceEnd => return Value::Array(list),
                    item => list.push(node(item, events)),
                }
            }
        }
        Event::MappingStart(..) => {
            let mut map = Map::new();
            loop {
                let key = match events.next().expect("an end") {
                    Event::MappingEnd => return Value::Object(map),
                    Event::Scalar(key, ..) => key.into_owned(),
                    other => panic!("{other:?} is no key"),
                };
                let first = events.next().expect("a value");
                let value = node(first, events);
                assert!(map.insert(key.clone(), value).is_none(), "{key} comes twice");
            }
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn daemonset() -> Vec<Value> {
    documents(&fs::read_to_string(contrib("kubernetes/daemonset.yaml")).unwrap())
}

pub(crate) fn strings(list: &Value) -> Vec<String> {
    list.as_array().expect("a list").iter().map(|item| item.as_str().expect("a text").to_owned()).collect()
}
