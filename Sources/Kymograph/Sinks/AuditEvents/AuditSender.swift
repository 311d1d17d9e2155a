/// Sends records to a server one after the other, and decides what becomes of one that it does not take.
///
/// None is passed over lightly: an outage must leave no gap. One is left out when the server says so three times, each
/// time after it has stated what it is; and when it fails again and again where the record behind it is taken.
struct AuditSender {
    /// What became of a record that need not be sent any more.
    enum Fate: Equatable {
        case stored
        /// It is in the trail alone, for this reason.
        case leftOut(String)
    }

    /// Why not all records were sent.
    enum Stop: Equatable {
        case failed(AuditServer.Failure)
        /// It was ended from outside.
        case ended
    }

    /// How often a server must refuse a record before that is believed.
    private static let patientRefusals = 3
    /// How often a record must fail, each time after the server has stated what it is, before the one behind it is
    /// tried: in about two minutes, with the pauses of ``AuditDelivery``.
    static let patientFailures = 8

    private let server: AuditServer
    /// Whether the server has said what it is since it failed last.
    private var isAsked = false
    /// How often it has refused the first record that is left, and how often that has failed.
    private var refusals = 0
    private var failures = 0

    init(_ server: AuditServer) { self.server = server }

    /// Sends `items`, until `isOver` or one fails; `done` hears what has become of each of the others, in their order.
    /// Nil when there may be more to send.
    mutating func send(
        _ items: [AuditTail.Item], isOver: () -> Bool, done: (AuditTail.Item, Fate) -> Void
    ) -> Stop? {
        let isFresh = !isAsked
        if isFresh {
            if let failure = server.ask() {
                failures = 0
                return .failed(failure)
            }
            isAsked = true
        }
        for (place, item) in items.enumerated() {
            guard !isOver() else { return .ended }
            switch attempt(item, isFresh: isFresh) {
            case .success(let fate): done(item, fate)
            case .failure(let failure):
                // It may be another server when it comes back.
                isAsked = false
                if isFresh { failures += 1 }
                guard failures >= Self.patientFailures, items.indices.contains(place + 1),
                    let fate = fate(of: item, before: items[place + 1])
                else { return .failed(failure) }
                (refusals, failures) = (0, 0)
                done(item, fate)
                done(items[place + 1], .stored)
                return nil
            }
            (refusals, failures) = (0, 0)
        }
        return nil
    }

    private mutating func attempt(_ item: AuditTail.Item, isFresh: Bool) -> Result<Fate, AuditServer.Failure> {
        switch store(item) {
        case .stored: return .success(.stored)
        case .failed(let failure): return .failure(failure)
        case .refused(let reason):
            // A proxy, or a certificate that has ended, may say so of everything: what the server says it is counts.
            if isFresh { refusals += 1 }
            guard refusals < Self.patientRefusals else { return .success(.leftOut(reason)) }
            return .failure(server.refusal(reason))
        }
    }

    /// What becomes of `item` if the server takes `next`: then it is not away. Nil where it takes neither, or has gone
    /// away meanwhile.
    private func fate(of item: AuditTail.Item, before next: AuditTail.Item) -> Fate? {
        guard store(next) == .stored else { return nil }
        let reason: String
        switch store(item) {
        // It has come back just now.
        case .stored: return .stored
        case .refused(let text): reason = text
        case .failed(let failure): reason = failure.kind
        }
        return server.ask() == nil ? .leftOut("\(reason) again and again, while it takes others") : nil
    }

    private func store(_ item: AuditTail.Item) -> AuditServer.Answer {
        server.store(AuditEvent(item.record), id: item.digest)
    }
}
