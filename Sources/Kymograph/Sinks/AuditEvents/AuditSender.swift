/// Sends records to a server one after the other, and decides what becomes of one that it does not take.
///
/// None is passed over lightly: an outage must leave no gap. One is left out when the server says so three times, each
/// time after it has stated what it is; and when it fails again and again where one behind it is taken.
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
    /// How many of those behind it are tried, one after each further failure.
    static let mostProbes = AuditTail.least - 1

    private let server: AuditServer
    /// Whether the server has said what it is since it failed last.
    private var isAsked = false
    /// How often it has refused the first record that is left, and how often that has failed.
    private var refusals = 0
    private var failures = 0
    /// How many of those behind it have not been taken either.
    private var probes = 0

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
                if isFresh, !failure.isLater { failures += 1 }
                guard !failure.isLater, failures >= Self.patientFailures,
                    let (fate, probe) = fate(of: item, before: items[(place + 1)...])
                else { return .failed(failure) }
                begin()
                done(item, fate)
                // One further behind is sent once more in its turn, under its id.
                if probe == place + 1 { done(items[probe], .stored) }
                return nil
            }
            begin()
        }
        return nil
    }

    /// Another record is the first that is left.
    private mutating func begin() { (refusals, failures, probes) = (0, 0, 0) }

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

    /// What becomes of `item` if the server takes one of `others`, whose place is the second: then it is not away. Nil
    /// where it takes none, has gone away meanwhile, or says that it has no time.
    private mutating func fate(
        of item: AuditTail.Item, before others: ArraySlice<AuditTail.Item>
    ) -> (fate: Fate, probe: Int)? {
        guard !others.isEmpty else { return nil }
        let probe = others.startIndex + probes % min(others.count, Self.mostProbes)
        guard store(others[probe]) == .stored else {
            probes += 1
            return nil
        }
        var reason = ""
        // Twice in a row: behind one address there may be two servers by turns, of which one is away.
        for _ in 0..<2 {
            switch store(item) {
            case .stored: return (.stored, probe)
            case .refused(let text): reason = text
            case .failed(let failure):
                guard !failure.isLater else { return nil }
                reason = failure.kind
            }
        }
        guard server.ask() == nil else { return nil }
        return (.leftOut("\(reason) again and again, while it takes others"), probe)
    }

    private func store(_ item: AuditTail.Item) -> AuditServer.Answer {
        server.store(AuditEvent(item.record), id: item.digest)
    }
}
