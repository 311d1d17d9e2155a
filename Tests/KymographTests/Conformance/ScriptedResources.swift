@testable import Kymograph
@testable import KymographCore
@testable import KymographTemplates

/// Single resources of a server that is played: what searches give, and what was asked.
final class ScriptedResources: ResourceServer {
    /// Resources that searches find, by type.
    var found: [String: [JSONNode]] = [:]
    /// What the first search for a type finds instead.
    var foundFirst: [String: [JSONNode]] = [:]
    /// Status of the first update; nil when it works.
    var firstUpdate: Int?
    private(set) var searches: [String] = []
    private(set) var updates: [JSONNode] = []
    private(set) var creations: [JSONNode] = []

    /// Types of resources that were stored, in order.
    var stored: [String] { (updates + creations).compactMap { $0.child("resourceType")?.string } }

    func search(_ identifier: ServerIdentifier, completion: @escaping (Result<[JSONNode], ServerRefusal>) -> Void) {
        searches.append("\(identifier.type)?identifier=\(identifier.text)")
        completion(.success(foundFirst.removeValue(forKey: identifier.type) ?? found[identifier.type] ?? []))
    }

    func update(
        _ resource: JSONNode, version: String?, completion: @escaping (Result<StoredResource, ServerRefusal>) -> Void
    ) {
        if let status = firstUpdate {
            firstUpdate = nil
            return completion(.failure(ServerRefusal(status: status, message: "changed")))
        }
        updates.append(resource)
        completion(.success(StoredResource(status: 200, version: "W/\"2\"", id: resource.child("id")?.string)))
    }

    func create(
        _ resource: JSONNode, unless identifier: ServerIdentifier,
        completion: @escaping (Result<StoredResource, ServerRefusal>) -> Void
    ) {
        creations.append(resource)
        completion(.success(StoredResource(status: 201, location: "Observation/new", version: "W/\"1\"", id: "new")))
    }
}

/// A cache that counts.
final class CountingCache: ObservationCache {
    private(set) var settings = 0
    private(set) var removals = 0

    override func set(_ observation: JSONNode, for identifier: ServerIdentifier) {
        settings += 1
        super.set(observation, for: identifier)
    }

    override func remove(_ identifier: ServerIdentifier) {
        removals += 1
        super.remove(identifier)
    }
}
