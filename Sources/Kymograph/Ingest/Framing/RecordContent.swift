/// What of a record goes to a lane.
enum RecordContent: Equatable {
    /// Nothing but that it was there: it has no value.
    case nothing
    /// A payload.
    case payload([UInt8])
    /// A value of which no envelope can be made (``Rejection/noEnvelope``).
    case unfit([UInt8])
}
