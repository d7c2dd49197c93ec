pub(crate) mod kswapd;
pub(crate) mod shrinker;
pub(crate) mod wake;
