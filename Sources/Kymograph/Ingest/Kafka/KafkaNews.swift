/// What an operator should know of a topic.
enum KafkaNotice: Equatable {
    /// Records can come.
    case connected(String)
    /// None can, and why.
    case disconnected(String)
    /// Something else.
    case note(String)
}

/// What has happened to a topic since the last look.
struct KafkaNews {
    var notices: [KafkaNotice] = []
    /// Records that could not be read, because the topic no longer had them, at most.
    var missed: UInt64 = 0

    /// Adds what has happened later.
    mutating func add(_ later: KafkaNews) {
        notices += later.notices
        missed += later.missed
    }
}
