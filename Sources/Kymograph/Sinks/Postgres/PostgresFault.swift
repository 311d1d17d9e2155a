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
        message = "PostgreSQL refuses it: \(PostgresFault.meaning(of: state)) (SQLSTATE \(state))"
    }

    /// What the server has said with SQLSTATE `state`. What it says of data may quote them.
    init(state: String, saying message: String) {
        self.state = state
        kind = PostgresFault.kind(of: state)
        switch kind {
        case .data: self.message = "PostgreSQL refuses it: \(PostgresFault.meaning(of: state)) (SQLSTATE \(state))"
        case .collision, .slow, .unable, .unreachable, .refused, .unfit, .insecure, .stopped:
            self.message = "\(message) (SQLSTATE \(state))"
        }
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
        case "22", "23": return .data
        case "40": return .collision
        // A limit of the server's, such as of numbers of transactions: only a merge can meet one of a value.
        case "53", "54", "55", "58", "25": return .unable
        default: return .unfit
        }
    }

    private static func meaning(of state: String) -> String {
        switch state {
        case "22P05", "22021": "a text has a character that the database cannot store"
        case "22003": "a number is out of range"
        case "22P02", "22P03": "a value cannot be read"
        case "54000": "an identifier is longer than an index can hold"
        default: state.hasPrefix("23") ? "it breaks a constraint" : "a value is not one of its column"
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
