import KymographCore

/// What a lane does with the bytes it receives, and around them.
///
/// The pipeline implements it by mapping them. All methods are called on the lane's thread, and may block: a blocked
/// consumer is backpressure, which Unix sockets and pipes pass on to the sender and UDP shows as kernel drops.
package protocol PayloadConsumer: PayloadReceiver, ~Copyable {
    /// A batch of datagrams or a chunk of a stream has arrived, and its payloads follow; also called now and then while
    /// nothing arrives.
    mutating func batchBegin()

    /// Says who sends the payloads that follow, up to the next call; nil when the source cannot tell. Called after
    /// ``batchBegin()``, per batch.
    mutating func sender(_ peer: Peer?)

    /// Whether everything before `mark` is durable: in windows of the journal, or among the dead letters.
    mutating func isDurable(_ mark: DurableMark) -> Bool

    /// Takes what became of the readings of `count`, but for those that were accepted, when they are durable; nil when
    /// that is not known. To be asked once.
    mutating func takeOutcomes(of count: ReadingCount) -> ReadingOutcomes?

    /// Takes what became of the readings of all items of the body that `count` is of, by the numbers of their counts,
    /// when they are durable; nil when that is not known. Of an item that is missing, all readings were accepted. To be
    /// asked once for a body.
    mutating func takeItems(of count: ReadingCount) -> [Int: ReadingOutcomes]?

    /// What keys of sealed datagrams have had: of the store where there is one. Numbers are noted there before their
    /// payloads are handed on.
    var sequences: SequenceBook { get }

    /// What keeps positions of topics: of the store where there is one.
    var positions: any PositionKeeper { get }

    /// Called about four times a second, however busy or quiet the lane.
    mutating func idled()

    /// What is paused has changed, to generation `generation`: nothing is read any more of what can wait.
    mutating func pausesChanged(_ generation: Int)

    /// Whatever source `number` brings from here on is to be rejected: it is paused, and the lane stops.
    mutating func rejectsAll(of number: Int)

    /// Something about a source that its operator should know.
    mutating func noted(_ text: String)

    /// A client of the source called `source` was refused, because it has not shown who it is: `reason` is the name of
    /// an ``AuthFailure`` or ``AssociationRefusal``, or `untrustedCertificate`. Senders can repeat that without end.
    mutating func refusedClient(of source: String, _ reason: String)

    /// A list that says who may send what, or keys by which senders are known, were read again, or could not be.
    mutating func rereadList(_ text: String)

    /// The connection that the source called `name` keeps is there, or has gone; `text` says so.
    mutating func connection(of name: String, _ change: ConnectionChange, _ text: String)
}

extension PayloadConsumer where Self: ~Copyable {
    /// Does nothing.
    package mutating func batchBegin() {}

    /// Forgets it.
    package mutating func sender(_ peer: Peer?) {}

    /// What lasts as long as the process.
    package var sequences: SequenceBook { .ofProcess }

    /// Keeps none.
    package var positions: any PositionKeeper { NoPositions() }

    /// Has nothing to do now and then.
    package mutating func idled() {}

    /// Nothing is ever paused.
    package mutating func pausesChanged(_ generation: Int) {}

    /// Nothing is ever paused.
    package mutating func rejectsAll(of number: Int) {}

    /// Default: ignored.
    package mutating func noted(_ text: String) {}

    /// Forgets it.
    package mutating func refusedClient(of source: String, _ reason: String) {}

    /// Tells it as any other note.
    package mutating func rereadList(_ text: String) { noted(text) }

    /// Default: ignored.
    package mutating func connection(of name: String, _ change: ConnectionChange, _ text: String) {}

    /// Knows of none.
    package mutating func takeOutcomes(of count: ReadingCount) -> ReadingOutcomes? { nil }

    /// Knows of none.
    package mutating func takeItems(of count: ReadingCount) -> [Int: ReadingOutcomes]? { nil }

    /// Nothing becomes durable.
    package mutating func isDurable(_ mark: DurableMark) -> Bool { false }
}
