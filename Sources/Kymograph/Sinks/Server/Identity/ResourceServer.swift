import KymographCore
import KymographTemplates

/// Single resources on a server. Answers come on the thread that asks, at once or later; what may work later is tried
/// again before there is an answer.
protocol ResourceServer: AnyObject {
    /// All resources of an identifier: none, one or several.
    func search(_ identifier: ServerIdentifier, completion: @escaping (Result<[JSONNode], ServerRefusal>) -> Void)

    /// Stores `resource` under its id; with `version`, only if that is the one that the server has.
    func update(
        _ resource: JSONNode, version: String?, completion: @escaping (Result<StoredResource, ServerRefusal>) -> Void)

    /// Stores `resource` under an id of the server's, unless one of this identifier is there.
    func create(
        _ resource: JSONNode, unless identifier: ServerIdentifier,
        completion: @escaping (Result<StoredResource, ServerRefusal>) -> Void)
}

/// A refusal that another attempt would not change.
struct ServerRefusal: Error, Hashable, Sendable {
    /// HTTP status.
    var status: Int
    /// What the server said.
    var message: String
    /// Why what was sent is undeliverable.
    var reason: Rejection = .serverRefused
    /// Whether the server says that what was to be changed is not there any more.
    var isGone = false

    /// The request was not sent again, since what it says is outdated.
    static let outdated = ServerRefusal(status: 0, message: "outdated", reason: .serverFailed)

    /// Whether somebody else changed or deleted the resource in between.
    var isConflict: Bool { status == 409 || status == 412 || isGone }
}

/// A resource as a server has it now.
struct StoredResource: Hashable, Sendable {
    /// HTTP status.
    var status: Int
    /// `Location`, empty when there is none.
    var location = ""
    /// `ETag`, empty when there is none.
    var version = ""
    /// The logical id, where the server tells it.
    var id: String?
}
