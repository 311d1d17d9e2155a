import KymographCore

/// Stores Observations as the reference system does: it looks for one of the same identifier, merges into it, and
/// updates it if that changed anything; when somebody else was faster, it merges again (mapping dialect, section 6.4).
final class ObservationSaver {
    /// What was done.
    enum Operation: String {
        case created = "Created"
        case updated = "Updated"
        case unchanged = "NoOperation"
    }

    /// What was done, and what the server has now.
    struct Saved {
        var operation: Operation
        var stored: StoredResource
        var observation: JSONNode
    }

    typealias Completion = (Result<Saved, IdentityFailure>) -> Void
    typealias Merge = (JSONNode, JSONNode) throws(ObservationMerge.Failure) -> JSONNode

    /// Merges that are tried while others keep changing the Observation.
    private static let patience = 10

    private let server: any ResourceServer
    private let cache: ObservationCache
    private let merge: Merge

    init(server: any ResourceServer, cache: ObservationCache, merge: @escaping Merge) {
        self.server = server
        self.cache = cache
        self.merge = merge
    }

    /// Stores `observation`, which has this identifier.
    func save(_ observation: JSONNode, _ identifier: ServerIdentifier, completion: @escaping Completion) {
        if let known = cache.find(identifier) {
            return update(known, with: observation, identifier, attempt: 1, completion)
        }
        find(observation, identifier, attempt: 1, completion)
    }

    private func find(
        _ observation: JSONNode, _ identifier: ServerIdentifier, attempt: Int, _ completion: @escaping Completion
    ) {
        server.search(identifier) { [self] result in
            switch result {
            case .failure(let refusal): completion(.failure(Self.failure(refusal)))
            case .success(let found) where found.count > 1: completion(.failure(.ambiguous(identifier)))
            case .success(let found):
                guard let existing = found.first else {
                    return create(observation, identifier, attempt: attempt, completion)
                }
                update(existing, with: observation, identifier, attempt: attempt, completion)
            }
        }
    }

    private func create(
        _ observation: JSONNode, _ identifier: ServerIdentifier, attempt: Int, _ completion: @escaping Completion
    ) {
        let new = observation.without(["id"])
        server.create(new, unless: identifier) { [self] result in
            switch result {
            case .success(let stored) where stored.status == 200 && attempt < Self.patience:
                // It was there after all: made by somebody else, or by an attempt whose answer was lost.
                find(observation, identifier, attempt: attempt + 1, completion)
            case .failure(let refusal): completion(.failure(Self.failure(refusal)))
            case .success(let stored):
                if let known = Self.known(new, stored) { cache.set(known, for: identifier) }
                completion(.success(Saved(operation: .created, stored: stored, observation: new)))
            }
        }
    }

    private func update(
        _ existing: JSONNode, with observation: JSONNode, _ identifier: ServerIdentifier, attempt: Int,
        _ completion: @escaping Completion
    ) {
        let merged: JSONNode
        do throws(ObservationMerge.Failure) {
            merged = try merge(existing, observation)
        } catch {
            return completion(
                .failure(IdentityFailure(reason: .mergeFailed, resource: "Observation", message: error.message)))
        }
        if merged.sortedText == existing.sortedText {
            cache.set(existing, for: identifier)
            let stored = Self.stored(existing)
            return completion(.success(Saved(operation: .unchanged, stored: stored, observation: existing)))
        }
        let amended = merged.with("status", .text("amended"))
        server.update(amended, version: Self.stored(existing).version) { [self] result in
            switch result {
            case .success(let stored):
                if let known = Self.known(amended, stored) { cache.set(known, for: identifier) }
                completion(.success(Saved(operation: .updated, stored: stored, observation: amended)))
            case .failure(let refusal) where refusal.isConflict && attempt < Self.patience:
                cache.remove(identifier)
                find(observation, identifier, attempt: attempt + 1, completion)
            case .failure(let refusal): completion(.failure(Self.failure(refusal)))
            }
        }
    }

    private static func failure(_ refusal: ServerRefusal) -> IdentityFailure {
        IdentityFailure(reason: refusal.reason, resource: "Observation", message: refusal.message)
    }

    private static func stored(_ existing: JSONNode) -> StoredResource {
        let id = existing.child("id")?.string
        let version = existing.child("meta")?.child("versionId")?.string.map { "W/\"\($0)\"" } ?? ""
        return StoredResource(
            status: 200, location: id.map { "Observation/\($0)" } ?? "", version: version, id: id)
    }

    /// `observation` with the id and version that it has now; nil when the server did not tell both.
    private static func known(_ observation: JSONNode, _ stored: StoredResource) -> JSONNode? {
        guard let id = stored.id, let quoted = stored.version.split(separator: "\"").dropFirst().first else {
            return nil
        }
        let meta = observation.child("meta") ?? JSONNode(position: .start, value: .object([]))
        return observation.with("id", .text(id)).with("meta", meta.with("versionId", .text(String(quoted))))
    }
}
