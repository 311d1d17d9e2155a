/// The connection string of an Azure event hub, as the portal gives it:
/// `Endpoint=sb://NAME.servicebus.windows.net/;SharedAccessKeyName=POLICY;SharedAccessKey=KEY;EntityPath=HUB`.
///
/// Names of keys are of any case and in any order; a value goes from the first `=` to the next `;`.
package struct ConnectionString: Hashable, Sendable {
    /// What shows that the client may send.
    package enum Proof: Hashable, Sendable {
        /// A policy's key, by which the client signs.
        case key(policy: String, key: String)
        /// A signature that somebody has made: `SharedAccessSignature sr=…&sig=…&se=…&skn=…`.
        case signature(String)
    }

    /// Why a text is no connection string: names the key at fault, and never has anything of a value.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong and what to do.
        package var description: String
    }

    private enum Key: String, CaseIterable {
        case endpoint = "Endpoint"
        case policy = "SharedAccessKeyName"
        case key = "SharedAccessKey"
        case entityPath = "EntityPath"
        case timeout = "OperationTimeout"
        case transport = "TransportType"
        case signature = "SharedAccessSignature"
    }

    /// Scheme, host and port of the namespace, without a slash at the end: `https://name.servicebus.windows.net`.
    package let endpoint: String
    /// What shows that the client may send.
    package let proof: Proof
    /// The event hub; nil where the string is that of a whole namespace.
    package let entityPath: String?
    /// Longest time of a request, in milliseconds; nil when not stated.
    package let timeout: Int?

    /// Reads `text`.
    ///
    /// - Throws: ``Fault`` with the key at fault.
    package init(_ text: String) throws(Fault) {
        let values = try ConnectionString.values(of: text)
        guard let endpoint = values[.endpoint] else { throw Fault(description: "has no Endpoint") }
        self.endpoint = try ConnectionString.origin(endpoint)
        proof = try ConnectionString.proof(values)
        entityPath = try ConnectionString.path(values[.entityPath])
        timeout = try ConnectionString.milliseconds(values[.timeout])
        guard values[.transport].map({ $0.lowercased() == "https" }) ?? true else {
            throw Fault(description: "has a TransportType that is not https: remove it, events go by HTTPS")
        }
    }

    private static func values(of text: String) throws(Fault) -> [Key: String] {
        var parts = text.split(separator: ";", omittingEmptySubsequences: false)
        if parts.last?.isEmpty == true { parts.removeLast() }
        guard parts.contains(where: { !$0.isEmpty }) else { throw Fault(description: "is empty") }
        var values: [Key: String] = [:]
        for part in parts {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { throw Fault(description: "has a part that is no KEY=VALUE") }
            let key = try key(pair[0])
            guard !pair[1].isEmpty else { throw Fault(description: "has no value for \(key.rawValue)") }
            guard values.updateValue(String(pair[1]), forKey: key) == nil else {
                throw Fault(description: "has \(key.rawValue) twice")
            }
        }
        return values
    }

    /// The key called `name`. What is no word may be a part of a secret, and is not named.
    private static func key(_ name: Substring) throws(Fault) -> Key {
        if let key = Key.allCases.first(where: { $0.rawValue.lowercased() == name.lowercased() }) { return key }
        let isWord = name.utf8.count <= 32 && name.utf8.allSatisfy { 0x61...0x7A ~= $0 | 0x20 }
        let known = Key.allCases.map(\.rawValue).joined(separator: ", ")
        throw Fault(description: "has an unknown key\(isWord ? " '\(name)'" : ""): there are \(known)")
    }

    /// Scheme, host and port of an Endpoint.
    private static func origin(_ text: String) throws(Fault) -> String {
        var rest = text[...]
        while rest.hasSuffix("/") { rest = rest.dropLast() }
        let lower = rest.lowercased()
        let address = ["sb://", "amqps://"].first(where: lower.hasPrefix).map { "https://" + lower.dropFirst($0.count) }
        do throws(ServerURL.Fault) {
            let url = try ServerURL(address ?? lower)
            guard url.origin == url.text else { throw ServerURL.Fault(description: "has a path") }
            guard url.isEncrypted || url.isLoopback else {
                throw ServerURL.Fault(description: "is not encrypted; begin it with sb:// or https://")
            }
            return url.origin
        } catch {
            throw Fault(description: "has an Endpoint that \(error.description)")
        }
    }

    private static func proof(_ values: [Key: String]) throws(Fault) -> Proof {
        switch (values[.policy], values[.key], values[.signature]) {
        case (let policy?, let key?, nil): return .key(policy: policy, key: key)
        case (nil, nil, let signature?):
            let isWhole = signature.lowercased().hasPrefix("sharedaccesssignature ")
            return .signature(isWhole ? signature : "SharedAccessSignature \(signature)")
        case (_?, nil, nil): throw Fault(description: "has a SharedAccessKeyName and no SharedAccessKey")
        case (nil, _?, nil): throw Fault(description: "has a SharedAccessKey and no SharedAccessKeyName")
        case (nil, nil, nil):
            throw Fault(description: "has neither SharedAccessKeyName and SharedAccessKey nor SharedAccessSignature")
        case (_, _, _?):
            throw Fault(description: "has a SharedAccessSignature besides a key: remove one of them")
        }
    }

    /// The name of a hub as a URL has it.
    private static func path(_ text: String?) throws(Fault) -> String? {
        guard let text else { return nil }
        guard isHub(text) else { throw Fault(description: "has an EntityPath that is no name of an event hub") }
        return text
    }

    /// Whether `name` may be that of an event hub: letters, digits, `.`, `-`, `_` and `/`, 260 at most (Azure,
    /// "Naming rules and restrictions for Azure resources", Microsoft.EventHub).
    static func isHub(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            0x30...0x39 ~= byte || 0x61...0x7A ~= byte | 0x20 || "._-/".utf8.contains(byte)
        }
        return isPlain && (1...260).contains(name.utf8.count) && !name.hasPrefix("/") && !name.hasSuffix("/")
    }

    private static func milliseconds(_ text: String?) throws(Fault) -> Int? {
        guard let text else { return nil }
        guard let seconds = Double(text), seconds >= 0.001, seconds <= 3_600 else {
            throw Fault(description: "has an OperationTimeout that is no number of seconds up to 3600")
        }
        return Int(seconds * 1_000)
    }
}
