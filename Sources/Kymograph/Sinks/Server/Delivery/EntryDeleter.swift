import KymographCore
import KymographTemplates

/// Deletes the resources of entries one by one.
///
/// The server is searched, and what it has under the very identifier is deleted by its id: before each attempt, since
/// the id may be another resource's by then, as on a server that was set up again. Never by conditional delete: a
/// server may take other identifiers for this one (without regard to case, by their beginning), and some delete all
/// that they find.
struct EntryDeleter {
    /// Where a server has a resource.
    private struct Place {
        var id: String
        /// As `If-Match` has it; nil when the server states no version.
        var version: String?
    }

    private let settings: DeliverySettings
    private let channel: ServerChannel
    private let rows: OutboxConsumer
    private let flights: Flights

    init(_ settings: DeliverySettings, _ channel: ServerChannel, rows: OutboxConsumer, flights: Flights) {
        (self.settings, self.channel, self.rows, self.flights) = (settings, channel, rows, flights)
    }

    /// Deletes what the server has of `entry`, which is all of `flight`, and lands that; `rebuffs` as ``RetryHooks``
    /// has them, after `failures` attempts that have failed.
    func delete(_ entry: DeliveryEntry, _ flight: Flight, after rebuffs: Rebuffs?, failures: Int = 0) {
        entry.attempts += 1
        var before: Rebuffs?
        let hooks = RetryHooks(
            rebuffs: rebuffs, wait: failures == 0 ? 0 : channel.wait(afterFailures: failures),
            whenDoubtful: { [flights] in flights.detach(entry, savedBy: flight) },
            isOutdated: { exchange in
                guard exchange.request.method == "DELETE" else { return false }
                before = exchange.rebuffs
                return true
            })
        let server = ChannelServer(channel, settings, hooks, isFresh: true)
        find(entry, on: server) { [self] result in
            switch result {
            case .failure(let failure): discard(entry, failure, flight)
            case .success(nil): finish(entry, 404, flight)
            case .success(let place?):
                server.delete(entry.type, id: place.id, version: place.version) { [self] result in
                    if let before { return delete(entry, flight, after: before, failures: failures + 1) }
                    note(result, of: entry, flight)
                }
            }
        }
    }

    /// Searches for the only resource that has the identifier of `entry`; gives nil when there is none.
    private func find(
        _ entry: DeliveryEntry, on server: ChannelServer,
        completion: @escaping (Result<Place?, IdentityFailure>) -> Void
    ) {
        server.search(entry.identifier) { result in
            switch result {
            case .failure(let refusal):
                completion(
                    .failure(IdentityFailure(reason: refusal.reason, resource: entry.type, message: refusal.message)))
            case .success(let found) where found.count > 1: completion(.failure(.ambiguous(entry.identifier)))
            case .success(let found): completion(Self.place(of: entry, found.first))
            }
        }
    }

    private static func place(of entry: DeliveryEntry, _ resource: JSONNode?) -> Result<Place?, IdentityFailure> {
        guard let resource else { return .success(nil) }
        guard let id = resource.child("id")?.string, isID(id) else {
            return .failure(
                IdentityFailure(
                    reason: .serverRefused, resource: entry.type,
                    message: "the server gives no id of the \(entry.type) with the identifier \(entry.identifier.text)")
            )
        }
        return .success(
            Place(id: id, version: resource.child("meta")?.child("versionId")?.string.map { "W/\"\($0)\"" }))
    }

    /// Whether `text` can be an id (FHIR, data types), and so nothing else in a URL.
    private static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    private func note(_ result: Result<Int, ServerRefusal>, of entry: DeliveryEntry, _ flight: Flight) {
        switch result {
        case .success(let status):
            channel.taken += 1
            finish(entry, status, flight)
        case .failure(let refusal):
            rows.discard(entry, refusal.reason, refusal.message)
            flights.land(flight)
        }
    }

    /// That a search finds nothing does not show that the server takes anything.
    private func finish(_ entry: DeliveryEntry, _ status: Int, _ flight: Flight) {
        rows.finish(entry, EntryAnswer(status: status))
        flights.land(flight)
    }

    private func discard(_ entry: DeliveryEntry, _ failure: IdentityFailure, _ flight: Flight) {
        rows.discard(entry, failure)
        flights.land(flight)
    }
}
