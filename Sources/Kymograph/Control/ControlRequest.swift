/// What a command asks of a running instance: one line of JSON.
package struct ControlRequest: Codable, Sendable {
    /// What to do.
    package enum Command: String, Codable, Sendable {
        /// Say how it goes.
        case status
        /// Forget dead letters.
        case discard
        /// Note that dead letters were sent again.
        case noteReplayed
        /// Send the bundles of refused entries again.
        case deliver
        /// Expect the bytes of dead letters from their sources again.
        case expect
        /// Ask FHIR servers anew for Devices, Patients and Encounters.
        case forgetLookups
    }

    /// What to do.
    package var command: Command
    /// Numbers of dead letters.
    package var letters: [Int64]

    /// A request.
    package init(_ command: Command, letters: [Int64] = []) {
        self.command = command
        self.letters = letters
    }

    /// What to do to dead letters; nil when the request is another.
    var letterChange: LetterChange? {
        switch command {
        case .status, .forgetLookups, .expect: nil
        case .discard: .discard(letters)
        case .noteReplayed: .noteReplayed(letters)
        case .deliver: .deliver(letters)
        }
    }
}

/// What a running instance answers: one line of JSON.
package struct ControlAnswer: Codable, Sendable {
    /// Why the request was not carried out.
    package var error: String?
    /// How it goes.
    package var status: InstanceStatus?
    /// Letters that stay as they are.
    package var refused: [LetterRefusal]?

    init(error: String? = nil, status: InstanceStatus? = nil, refused: [LetterRefusal]? = nil) {
        self.error = error
        self.status = status
        self.refused = refused
    }
}
