import KymographCore

/// What the sender of single requests knows and is told while they are tried again and again. Default: ignored.
struct RetryHooks {
    /// What a request that writes was answered before.
    var rebuffs: Rebuffs?
    /// Whether what is updated was there: that it is not any more is an answer then, as a conflict is.
    var updatesWhatWasThere = false
    /// How long the first request waits, in nanoseconds.
    var wait: Int64 = 0
    /// Called when the server fails at a request again and again; whether nobody waits for that one any more.
    var whenDoubtful: () -> Bool = { false }
    /// Called when the server may have acted on a request that writes.
    var whenUncertain: () -> Void = {}
    /// Called before a request is sent again; whether it is not, since what it says is outdated.
    var isOutdated: (Exchange) -> Bool = { _ in false }
}
