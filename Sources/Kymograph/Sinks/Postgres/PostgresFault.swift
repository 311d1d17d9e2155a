/// Why PostgreSQL has not done what it was asked to, by SQLSTATE (PostgreSQL, appendix A, "PostgreSQL Error Codes").
struct PostgresFault: Error, Hashable, Sendable {
    /// What is to be done about it.
    enum Kind: Hashable, Sendable {
        /// The sink is to end: nothing.
        case stopped
        /// There is no connection, or there is none any more: another one, later.
        case unreachable
        /// TLS could not be agreed on.
        case insecure
        /// The server does not let this user in, or this user may not do it.
        case refused
        /// The server cannot do it now, as when its disk is full: the same again, later.
        case unable
        /// It took too long: less at a time.
        case slow
        /// Others were in the way: the same again, soon.
        case collision
        /// The server will never take what it was given.
        case data
        /// The server, or its schema, is not what is needed.
        case unfit
    }

    var kind: Kind
    /// SQLSTATE; empty where the server has not spoken.
    var state = ""
    /// What went wrong, in words: without secrets, and without anything of readings.
    var message: String

    /// A fault without SQLSTATE.
    init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }

    /// That a value is beyond what the server can store, which it has said with SQLSTATE `state`.
    init(ofValue state: String) {
        self.state = state
        kind = .data
        message = PostgresFault.refusal(state)
    }

    /// What the server has said with SQLSTATE `state`. What it says of data may quote them.
    init(state: String, saying message: String) {
        self.state = state
        kind = PostgresFault.kind(of: state)
        self.message = kind == .data ? PostgresFault.refusal(state) : "\(message) (SQLSTATE \(state))"
    }

    /// The same without the server's words, while it has anything of readings: functions there can raise any SQLSTATE,
    /// and quote what they were given.
    var inOwnWords: PostgresFault {
        guard !state.isEmpty, kind != .data else { return self }
        var fault = self
        fault.message = "PostgreSQL: \(PostgresFault.obstacle(state)) (SQLSTATE \(state))"
        return fault
    }

    /// A failure to connect, which libpq tells in words alone; those of the server begin with the SQLSTATE.
    init(connecting text: String) {
        let line = String(text.prefix { $0 != "\n" })
        if let match = line.firstMatch(of: /[^ ]+:  ([0-9A-Z]{5}): (.+)$/) {
            self.init(state: String(match.1), saying: String(match.2))
            return
        }
        if line.hasSuffix("no password supplied") {
            self.init(.refused, "the server asks for a password: name a file with it as passwordFile")
            return
        }
        let isOfTLS = ["certificate", "does not support SSL", "SSL error"].contains { line.contains($0) }
        self.init(isOfTLS ? .insecure : .unreachable, line.isEmpty ? "the connection was lost" : line)
    }

    private static func kind(of state: String) -> Kind {
        switch state {
        case "57014": return .slow
        case "55P03": return .collision
        case "42501", "3D000": return .refused
        default: break
        }
        switch state.prefix(2) {
        case "08", "57": return .unreachable
        case "28": return .refused
        case "09", "21", "22", "23", "27", "38", "39", "44", "P0": return .data
        case "40": return .collision
        // A limit of the server's, such as of numbers of transactions: only a merge can meet one of a value.
        case "53", "54", "55", "58", "25": return .unable
        case "72", "XX": return .unfit
        // Those of these letters and digits are left to whoever raises them in a function.
        default: return state.first.map { "56789".contains($0) || ("I"..."Z").contains($0) } == true ? .data : .unfit
        }
    }

    private static func refusal(_ state: String) -> String {
        "PostgreSQL refuses it: \(meaning(of: state)) (SQLSTATE \(state))"
    }

    private static func meaning(of state: String) -> String {
        switch state {
        case "22P05", "22021": "a text has a character that the database cannot store"
        case "22003": "a number is out of range"
        case "22P02", "22P03": "a value cannot be read"
        case "54000": "an identifier is longer than an index can hold"
        default:
            switch state.prefix(2) {
            case "22": "a value is not one of its column"
            case "23": "it breaks a constraint"
            default: "a rule, a trigger or a function of the database does not take it"
            }
        }
    }

    private static func obstacle(_ state: String) -> String {
        switch state {
        case "42501": "the user may not do that; kymo check --connect says what to grant"
        case "55P03": "another transaction has what is needed"
        case "57014": "a statement took too long"
        default:
            switch state.prefix(2) {
            case "08", "57": "it has ended the connection"
            case "25": "it takes no changes now"
            case "28", "3D": "it does not let the user in"
            case "40": "other transactions were in the way"
            case "42", "3F": "the tables are not as kymo has made them, or a function is wrong"
            case "53": "it has no room, no memory or no connection left"
            case "54": "a limit of the server is reached"
            case "58": "the system that it runs on has failed it"
            default: "it cannot do that"
            }
        }
    }

    /// The same for an operator; `isFresh`: the connection was about to be made.
    var trouble: DeliveryTrouble {
        switch kind {
        case .stopped, .unreachable: DeliveryTrouble(.unreachable, message)
        case .insecure: DeliveryTrouble(.insecure, message, isDefinite: true)
        case .refused: DeliveryTrouble(.credentialsRefused, message, isDefinite: true)
        case .unable, .slow, .collision, .data: DeliveryTrouble(.refusing, message)
        case .unfit: DeliveryTrouble(.unfit, message, isDefinite: true)
        }
    }
}
