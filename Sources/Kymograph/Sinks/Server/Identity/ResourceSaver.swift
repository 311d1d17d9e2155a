import KymographCore
import KymographTemplates

/// Stores resources one by one as the reference system stores Observations: it looks for one of the same identifier,
/// merges into it, and updates it if that changed anything; when somebody else was faster, it merges again (mapping
/// dialect, section 6.4).
final class ResourceSaver {
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
        var resource: JSONNode
    }

    /// What may be done.
    struct Rule {
        /// Whether one that the server does not have is made.
        var creates = true
        /// Whether one that it has is changed.
        var updates = true
    }

    /// One resource to be stored.
    private struct Task {
        var resource: JSONNode
        var identifier: ServerIdentifier
        var rule: Rule
        var attempt = 1

        /// The same once more.
        var next: Task {
            var next = self
            next.attempt += 1
            return next
        }
    }

    typealias Completion = (Result<Saved, IdentityFailure>) -> Void
    typealias Merge = (JSONNode, JSONNode) throws(ObservationMerge.Failure) -> JSONNode

    /// Merges that are tried while others keep changing the resource.
    private static let patience = 10

    private let server: any ResourceServer
    private let cache: ObservationCache
    private let merge: Merge

    init(server: any ResourceServer, cache: ObservationCache, merge: @escaping Merge) {
        self.server = server
        self.cache = cache
        self.merge = merge
    }

    /// Stores `resource`, which has this identifier.
    func save(
        _ resource: JSONNode, _ identifier: ServerIdentifier, rule: Rule = Rule(), completion: @escaping Completion
    ) {
        let task = Task(resource: resource, identifier: identifier, rule: rule)
        if isCached(identifier), let known = cache.find(identifier) { return update(known, task, completion) }
        find(task, completion)
    }

    /// Others write Devices, too.
    private func isCached(_ identifier: ServerIdentifier) -> Bool { identifier.type == "Observation" }

    private func find(_ task: Task, _ completion: @escaping Completion) {
        server.search(task.identifier) { [self] result in
            switch result {
            case .failure(let refusal): completion(.failure(Self.failure(refusal, task)))
            case .success(let found) where found.count > 1: completion(.failure(.ambiguous(task.identifier)))
            case .success(let found):
                guard let existing = found.first else { return create(task, completion) }
                update(existing, task, completion)
            }
        }
    }

    private func create(_ task: Task, _ completion: @escaping Completion) {
        guard task.rule.creates else { return completion(.failure(.notFound(task.identifier))) }
        let new = task.resource.without(["id"])
        server.create(new, unless: task.identifier) { [self] result in
            switch result {
            case .success(let stored) where stored.status == 200:
                // It was there after all: made by somebody else, or by an attempt whose answer was lost. If it is never
                // found, the server takes another resource for it, and has made none.
                guard task.attempt < Self.patience else { return completion(.failure(.foreign(task.identifier))) }
                find(task.next, completion)
            case .failure(let refusal): completion(.failure(Self.failure(refusal, task)))
            case .success(let stored):
                keep(new, stored, task)
                completion(.success(Saved(operation: .created, stored: stored, resource: new)))
            }
        }
    }

    private func update(_ existing: JSONNode, _ task: Task, _ completion: @escaping Completion) {
        var merged = existing
        do throws(ObservationMerge.Failure) {
            if task.rule.updates { merged = Self.confirmed(try merge(existing, task.resource), by: task.resource) }
        } catch {
            let type = task.identifier.type
            return completion(
                .failure(IdentityFailure(reason: .mergeFailed, resource: type, message: error.message)))
        }
        let stored = Self.stored(existing)
        // By bytes: texts that Unicode calls equivalent are not the same content.
        if merged.sortedText.utf8.elementsEqual(existing.sortedText.utf8) {
            if isCached(task.identifier) { cache.set(existing, for: task.identifier) }
            return completion(.success(Saved(operation: .unchanged, stored: stored, resource: existing)))
        }
        let isObservation = task.identifier.type == "Observation"
        let changed = isObservation ? Self.withStatus(merged, over: existing, by: task.resource) : merged
        server.update(changed, version: stored.version) { [self] result in
            switch result {
            case .success(let stored):
                keep(changed, stored, task)
                completion(.success(Saved(operation: .updated, stored: stored, resource: changed)))
            case .failure(let refusal) where refusal.isConflict && task.attempt < Self.patience:
                if isCached(task.identifier) { cache.remove(task.identifier) }
                find(task.next, completion)
            case .failure(let refusal): completion(.failure(Self.failure(refusal, task)))
            }
        }
    }

    /// `merged`, which is no longer preliminary where `new` is final or amended, also when nothing else has changed.
    private static func confirmed(_ merged: JSONNode, by new: JSONNode) -> JSONNode {
        guard isPreliminary(merged), let status = new.child("status")?.string, ["final", "amended"].contains(status)
        else { return merged }
        return merged.with("status", .text(status))
    }

    /// The Observation `merged`, which differs from `existing`, with its status: what was preliminary was never final
    /// here, and so is not amended, unless the new one says that it is.
    private static func withStatus(_ merged: JSONNode, over existing: JSONNode, by new: JSONNode) -> JSONNode {
        let wasNeverFinal = isPreliminary(existing) && ["preliminary", "final"].contains(new.child("status")?.string)
        return wasNeverFinal ? merged : merged.with("status", .text("amended"))
    }

    private static func isPreliminary(_ resource: JSONNode) -> Bool {
        resource.child("resourceType")?.string == "Observation" && resource.child("status")?.string == "preliminary"
    }

    private func keep(_ resource: JSONNode, _ stored: StoredResource, _ task: Task) {
        guard isCached(task.identifier), let known = Self.known(resource, stored) else { return }
        cache.set(known, for: task.identifier)
    }

    private static func failure(_ refusal: ServerRefusal, _ task: Task) -> IdentityFailure {
        IdentityFailure(reason: refusal.reason, resource: task.identifier.type, message: refusal.message)
    }

    private static func stored(_ existing: JSONNode) -> StoredResource {
        let id = existing.child("id")?.string
        let type = existing.child("resourceType")?.string ?? "Observation"
        let version = existing.child("meta")?.child("versionId")?.string.map { "W/\"\($0)\"" } ?? ""
        return StoredResource(
            status: 200, location: id.map { "\(type)/\($0)" } ?? "", version: version, id: id)
    }

    /// `resource` with the id and version that it has now; nil when the server did not tell both.
    private static func known(_ resource: JSONNode, _ stored: StoredResource) -> JSONNode? {
        guard let id = stored.id, let quoted = stored.version.split(separator: "\"").dropFirst().first else {
            return nil
        }
        let meta = resource.child("meta") ?? JSONNode(position: .start, value: .object([]))
        return resource.with("id", .text(id)).with("meta", meta.with("versionId", .text(String(quoted))))
    }
}
