pub(crate) mod free_scanner;
pub(crate) mod kcompactd;
pub(crate) mod migrate_scanner;
pub(crate) mod policy;
pub(crate) mod relocate;
pub(crate) mod run;
pub(crate) mod tidying;
