/// What a running instance tells of itself at one moment, without looking at the disk.
struct InstanceFacts: Sendable {
    /// All that was counted.
    var run = PipelineSummary()
    /// How delivery goes to each sink that takes entries by itself.
    var deliveries: [(sink: String, summary: DeliverySummary)] = []
    /// Whether lanes and shards are not ready yet: they take what an earlier run has left.
    var isStarting = false
    /// Whether it takes no readings any more.
    var isStopping = false
    /// Whether the store takes nothing, since the disk or ``StoreSettings/maxBytes`` is full.
    var isStoreFull = false
    /// How AuditEvents get on; nil where none are sent.
    var audit: AuditDeliveryFacts?
    /// Why it ends, if something has failed.
    var failure: String?
}

/// What is seen of a running instance. Its closures are called on threads of the listener.
struct InstanceView: Sendable {
    /// The present facts; at once.
    var facts: @Sendable () -> InstanceFacts
    /// What the database holds, nil without a store or when it cannot be read. It may take long.
    var stored: @Sendable () -> InstanceStatus?
    /// The file systems that are written to. It may take long.
    var disks: @Sendable () -> [DiskFacts]
}
