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
        /// Show events from now on.
        case tap
        /// Give a code for logging in to the console.
        case consoleLogin
        /// Close open windows.
        case flush
        /// Say how far the windows have come that a flush has closed.
        case flushProgress
        /// Take nothing of types or sources.
        case pause
        /// Take something of them again.
        case resume
        /// List devices and sources no more.
        case remove
        /// Say what keeps the settings, as they are written now, from being taken over by SIGHUP.
        case tryReload
    }

    /// What to do.
    package var command: Command
    /// Numbers of dead letters.
    package var letters: [Int64]
    /// Which events to show.
    package var tap: TapRequest?
    /// What the code of the console is to allow, as the role's name.
    package var role: String?
    /// Which windows to close.
    package var flush: FlushRequest?
    /// Which flush to look at.
    package var look: FlushLook?
    /// What to pause or resume.
    package var pause: PauseRequest?
    /// What is to be listed no more.
    package var removal: RemovalRequest?

    /// A request.
    package init(_ command: Command, letters: [Int64] = []) {
        self.command = command
        self.letters = letters
    }

    /// A request to show events.
    package init(_ tap: TapRequest) {
        self.init(.tap)
        self.tap = tap
    }

    /// A request to close windows.
    package init(_ flush: FlushRequest) {
        self.init(.flush)
        self.flush = flush
    }

    /// A request to say how far a flush has come.
    package init(_ look: FlushLook) {
        self.init(.flushProgress)
        self.look = look
    }

    /// A request to pause something, or to resume it.
    package init(_ command: Command, _ pause: PauseRequest) {
        self.init(command)
        self.pause = pause
    }

    /// A request to list something no more.
    package init(_ removal: RemovalRequest) {
        self.init(.remove)
        self.removal = removal
    }

    /// What to do to dead letters; nil when the request is another.
    var letterChange: LetterChange? {
        switch command {
        case .status, .forgetLookups, .expect, .tap, .consoleLogin, .flush, .flushProgress, .pause, .resume, .remove,
            .tryReload:
            nil
        case .discard: .discard(letters)
        case .noteReplayed: .noteReplayed(letters)
        case .deliver: .deliver(letters)
        }
    }
}

/// A code for logging in to the console.
package struct ConsoleLogin: Codable, Sendable {
    /// Where the console is.
    package var address: String
    /// The code, which is good once.
    package var code: String
    /// For how many seconds.
    package var seconds: Int
}

/// What a running instance answers: one line of JSON.
package struct ControlAnswer: Codable, Sendable {
    /// Why the request was not carried out.
    package var error: String?
    /// How it goes.
    package var status: InstanceStatus?
    /// Letters that stay as they are.
    package var refused: [LetterRefusal]?
    /// That events follow.
    package var tap: TapOpening?
    /// How to log in to the console.
    package var login: ConsoleLogin?
    /// How far windows are that were closed.
    package var flush: FlushAnswer?
    /// What was paused or resumed.
    package var pauses: [PauseOutcome]?
    /// What keeps settings from being taken over while it runs.
    package var obstacles: [ReloadObstacle]?

    init(
        error: String? = nil, status: InstanceStatus? = nil, refused: [LetterRefusal]? = nil, tap: TapOpening? = nil,
        login: ConsoleLogin? = nil, flush: FlushAnswer? = nil, pauses: [PauseOutcome]? = nil,
        obstacles: [ReloadObstacle]? = nil
    ) {
        self.obstacles = obstacles
        (self.login, self.flush, self.pauses) = (login, flush, pauses)
        self.error = error
        self.status = status
        self.refused = refused
        self.tap = tap
    }
}
