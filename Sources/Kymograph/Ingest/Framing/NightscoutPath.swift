import KymographCore

/// What clients of Nightscout ask for (cgm-remote-monitor, API version 1): see docs/http.md.
enum NightscoutPath {
    /// Entries of a glucose monitor or meter are posted.
    case entries
    /// xDrip+ asks whether the server is there.
    case status
    /// Loop and xDrip4iOS ask whether the secret is right, before they send anything.
    case test

    /// The mapping of entries, which a source must have.
    static let mapping: IdentifierText = "nightscout"

    /// What `path` is; nil for any other.
    init?(_ path: String) {
        switch path {
        case "/api/v1/entries", "/api/v1/entries.json": self = .entries
        case "/api/v1/status", "/api/v1/status.json": self = .status
        case "/api/v1/experiments/test": self = .test
        default: return nil
        }
    }

    /// By which method it is asked for.
    var method: String {
        switch self {
        case .entries: "POST"
        case .status, .test: "GET"
        }
    }

    /// What is replied to anybody who is let in; nil where it depends on what was sent.
    var fixedReply: HTTPReply? {
        switch self {
        case .entries: nil
        case .status: HTTPReply(200, type: "application/json", "{\"status\":\"ok\",\"apiEnabled\":true}\n")
        case .test: HTTPReply(200, type: "application/json", "{\"status\":\"ok\"}\n")
        }
    }
}
