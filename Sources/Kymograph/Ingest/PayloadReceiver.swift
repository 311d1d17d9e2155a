public import KymographCore

/// What takes the payloads of a lane: the pipeline, which maps them.
///
/// A ``StreamProtocol`` is handed one, and gives it to ``StreamIntake``, which counts; it calls none of these itself.
/// All methods are called on the lane's thread, and may block: a blocked receiver is back-pressure. Views are valid
/// only during the call and have ``ByteView/padding`` readable bytes after them.
public protocol PayloadReceiver: ~Copyable {
    /// One line of a stream of NDJSON, without its newline and without a carriage return before it. Empty lines are
    /// left out. `source` is the source's number, and `received` when the bytes were read.
    mutating func line(_ bytes: ByteView, source: Int, received: Instant)

    /// Takes the first line of `bytes` if it can be told before its end is found; its length without its newline, or
    /// nil when nothing has happened: the line comes by ``line(_:source:received:)`` then.
    mutating func knownLine(_ bytes: ByteView, source: Int, received: Instant) -> Int?

    /// One whole datagram, one message of a socket that keeps them apart, or one frame of a stream that is not
    /// NDJSON.
    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant)

    /// The same, of this device and patient, whose names are not in the bytes, each nil where it is not told. A reading
    /// in it that names another one is rejected.
    mutating func datagram(_ bytes: ByteView, device: ByteView?, patient: ByteView?, source: Int, received: Instant)

    /// Bytes that are no payload: the first part (up to the cap) of a line or frame that is too long, the first part of
    /// a datagram that is too long, what is no frame, or the unfinished line or frame of a stream that was still open
    /// when the lane stopped.
    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant)

    /// Names the place up to which payloads have been handed over and published; nil when nothing becomes durable here.
    mutating func mark() -> DurableMark?

    /// Reasons for which anything was rejected since the last call, each once.
    mutating func takeRejections() -> [Rejection]

    /// Names of the mappings of source `source`, those it has now.
    func mappings(of source: Int) -> [String]

    /// Says which readings are taken of what follows, up to the next call; nil for all. With `mapping`, this one alone
    /// of the mappings of the source is tried. Called after what came before has ended, or between two requests of one
    /// connection.
    mutating func admit(_ admission: PeerAdmission?, mapping: IdentifierText?)

    /// Readings that were taken so far.
    var taken: Int { get }

    /// Begins to count what becomes of the readings that follow. ``endCount()`` ends it, and there is one at a time.
    mutating func beginCount()

    /// Ends the count of readings; nil where nobody can tell what becomes of them.
    mutating func endCount() -> ReadingCount?

    /// Begins a body, each item of which is counted by itself: of each, ``beginCount()`` begins the count and
    /// ``endItem()`` ends it.
    mutating func beginItems()

    /// Ends the count of the next item; nil where nobody can tell what becomes of its readings. A body has at most
    /// 1,023 items.
    mutating func endItem() -> ReadingCount?

    /// The payloads that follow are parts of one document, up to ``endParts()``: what one of them retracts, a later one
    /// can bring back.
    mutating func beginParts()

    /// The document has ended.
    mutating func endParts()

    /// A request to source `source` was refused as a whole for `reason`, of a peer of its list, or with nil of nobody
    /// there.
    mutating func declined(_ peer: PeerAdmission?, _ reason: Rejection, source: Int)

    /// The end of a batch of datagrams or a chunk of a stream: the time to publish and to wake the shards.
    mutating func batchEnd()
}

extension PayloadReceiver where Self: ~Copyable {
    /// Knows none.
    package mutating func knownLine(_ bytes: ByteView, source: Int, received: Instant) -> Int? { nil }

    /// Takes it as one that names its own.
    package mutating func datagram(
        _ bytes: ByteView, device: ByteView?, patient: ByteView?, source: Int, received: Instant
    ) {
        datagram(bytes, source: source, received: received)
    }

    /// Nothing becomes durable.
    package mutating func mark() -> DurableMark? { nil }

    /// Tells none.
    package mutating func takeRejections() -> [Rejection] { [] }

    /// Takes all.
    package mutating func admit(_ admission: PeerAdmission?, mapping: IdentifierText?) {}

    /// Counts none.
    package var taken: Int { 0 }

    /// Forgets it.
    package mutating func declined(_ peer: PeerAdmission?, _ reason: Rejection, source: Int) {}

    /// Has none.
    package func mappings(of source: Int) -> [String] { [] }

    /// Counts none.
    package mutating func beginCount() {}

    /// Counts none.
    package mutating func endCount() -> ReadingCount? { nil }

    /// Counts none.
    package mutating func beginItems() {}

    /// Counts none.
    package mutating func endItem() -> ReadingCount? { nil }

    /// Takes each as a document.
    package mutating func beginParts() {}

    /// Takes each as a document.
    package mutating func endParts() {}
}

/// Readings of which it will be known what became of them, once they are durable.
public struct ReadingCount: Equatable, Sendable {
    /// How many they are, with retractions.
    var taken: Int
    /// The lane's number for them, below 0 for those of one item of a body; 0 when there are none.
    var number: Int
}

/// A place in what a lane has handed over; asked later whether all before it is durable.
public struct DurableMark: Equatable, Sendable {
    /// Slots written to the ring of each shard.
    var positions: [UInt64]
    /// Changes given to the store.
    var changes: Int
}
