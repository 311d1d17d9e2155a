/// A record of a topic, as brokers give it.
struct TopicRecord {
    /// Nil of a tombstone: its key is gone.
    var value: [UInt8]?
    var key: [UInt8]?
    /// Nil when they cannot be read.
    var headers: [RecordHeader]? = []
    /// When it was made or stored, as the topic has it, in milliseconds since 1970; nil when nobody says.
    var milliseconds: Int64?
}

/// A header of a record.
struct RecordHeader: Equatable {
    var name: [UInt8]
    var value: [UInt8]?
}

/// What of a record goes to a lane.
enum RecordContent: Equatable {
    /// Nothing but that it was there: it has no value.
    case nothing
    /// A payload.
    case payload([UInt8])
    /// A value of which no envelope can be made (``Rejection/noEnvelope``).
    case unfit([UInt8])
}
