/// How long lanes and shards may let work gather.
extension PipelineSettings {
    /// Most nanoseconds of a rest: a small part of the time that Observations wait for their bundle in any case, so
    /// that nobody notices it; none where they are not to wait.
    var longestRest: Int64 { min(1_000_000, bundleAge / 200) }
}
