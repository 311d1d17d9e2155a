import KymographCore
import Synchronization

/// The instance whose Observations are searched.
struct SearchSubject: Sendable {
    /// Its data directory.
    var directory: String
    /// Its settings as they are now.
    var present: @Sendable () -> PipelineSettings
    /// The mappings in use.
    var mappings: MappingExchange
    /// Who may search.
    var peers: PeerBook
    /// By what it is asked: `https` or `http`.
    var scheme: String
    /// When it began.
    var started: Instant
    var notes: LogTaker

    /// Writes to the log who has looked for what, whatever its level is, and each time; without identifiers. `series`
    /// are the numbers of all that is meant, in several lines if need be; nil stands for all that there are.
    func audit(_ client: String, _ deed: String, series: Set<Int>?, _ result: String, observations: Int) {
        for whose in AuditDeed.parts(series: series) {
            notes(
                .deed(
                    .search, by: "client \(client)", "search: \(client) has \(deed) of \(whose), and \(result)",
                    fields: [("client", .text(client)), ("observations", .number(observations))]))
        }
    }
}

/// A client of the search, and what it may see.
struct SearchClient: Sendable {
    let rights: SearchRights
    /// What only it and kymo know: the digest of its token.
    let key: [UInt8]

    /// What the log calls it.
    var name: String { rights.rule.name }

    /// The peer whose token `request` bears; nil without one.
    init?(_ request: ReceivedRequest, _ subject: SearchSubject) {
        let values = request.values(of: "authorization")
        let parts = (values.first ?? "").split(separator: " ", omittingEmptySubsequences: true)
        guard values.count == 1, parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        let list = subject.peers.current { subject.notes(.rereadPeers($0)) }
        guard let peer = list.peer(bearing: .token(String(parts[1])), at: WallClock.now()),
            let rule = peer.single.grant?.rule, case .token(let digest) = rule.proof
        else { return nil }
        (rights, key) = (SearchRights(rule: rule), digest)
    }
}

/// Where the windows of Observations are that were found a while ago: their ids say nothing of it.
final class SearchedPlaces: Sendable {
    /// The window of an Observation.
    struct Place: Sendable {
        var start: Int64
        var series: Int
    }

    /// Most places that are known.
    private static let mostPlaces = 50_000

    private let places = Mutex<[IdentifierText: Place]>([:])

    /// Where the Observation `id` was.
    subscript(id: String) -> Place? { places.withLock { $0[IdentifierText(id)] } }

    /// Notes where `observations` are.
    func note(_ observations: [ServedObservation]) {
        places.withLock { places in
            if places.count + observations.count > Self.mostPlaces { places = [:] }
            for one in observations {
                places[IdentifierText(one.id)] = Place(start: one.place.start, series: Int(one.place.series))
            }
        }
    }
}
