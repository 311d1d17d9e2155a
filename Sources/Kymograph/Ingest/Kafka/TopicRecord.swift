/// A record of a topic, as brokers give it.
struct TopicRecord {
    /// Nil of a tombstone: its key is gone.
    var value: [UInt8]?
    var key: [UInt8]?
    /// Nil when they cannot be read.
    var headers: [RecordHeader]? = []
    /// When it was made or stored, as the topic has it, in milliseconds since 1970; nil when that is not known.
    var milliseconds: Int64?
}

/// A header of a record.
struct RecordHeader: Equatable {
    var name: [UInt8]
    var value: [UInt8]?
}
