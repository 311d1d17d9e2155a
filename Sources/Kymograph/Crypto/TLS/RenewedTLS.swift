import Synchronization

/// The TLS of a source or another listener, which reads its files again when they have changed: certificates are
/// renewed without a restart, and connections that are open go on as they are. For any thread.
package final class RenewedTLS: Sendable {
    /// How often the files are looked at, at most.
    private static let interval = Duration.seconds(1)

    private struct State {
        var context: TLSContext
        /// Of the files when they were last read.
        var stamps: [SecretFile.Stamp?]
        var looked = ContinuousClock.now
        /// What is to be said of it.
        var note: String?
    }

    private let files: any TLSFileSet
    private let state: Mutex<State>

    /// Reads `files`.
    ///
    /// - Throws: ``TLSFault`` as ``TLSContext`` does.
    init(_ files: any TLSFileSet) throws(TLSFault) {
        let stamps = files.stamps
        self.files = files
        state = Mutex(State(context: try files.context(), stamps: stamps))
    }

    /// What a new connection gets. `note` hears of files that were read again, or cannot be: what was read before
    /// stays in use then.
    func current(note: (String) -> Void) -> TLSContext {
        let (context, text) = state.withLock { state in
            Self.renew(&state, files)
            defer { state.note = nil }
            return (state.context, state.note)
        }
        if let text { note(text) }
        return context
    }

    /// Looks at the files as for a new connection, which hears what is to be said of them; when the first of the
    /// certificates ends that a client would be shown now, in seconds since 1970.
    func renewedExpiry() -> Double? {
        state.withLock { state in
            Self.renew(&state, files)
            return state.context.expiry
        }
    }

    /// The hosts that the certificate is for which a client would be shown now; it looks at the files as
    /// ``renewedExpiry()``.
    func renewedHosts() -> [String] {
        state.withLock { state in
            Self.renew(&state, files)
            return state.context.hosts
        }
    }

    /// Reads the files again if it is time and they have changed.
    private static func renew(_ state: inout State, _ files: any TLSFileSet) {
        let now = ContinuousClock.now
        guard now - state.looked >= interval else { return }
        state.looked = now
        let stamps = files.stamps
        guard stamps != state.stamps else { return }
        state.stamps = stamps
        do throws(TLSFault) {
            state.context = try files.context()
            state.note = "\(files.name) was read again"
        } catch {
            state.note = "the former files stay in use: \(error.message)"
        }
    }
}
