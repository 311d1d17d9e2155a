import Synchronization

/// The keys of a source of sealed datagrams, which reads its file again when it has changed. For any thread.
package final class RenewedDatagramKeys: Sendable {
    /// How often the file is looked at, at most.
    private static let interval = Duration.seconds(1)

    private struct State {
        var keys: DatagramKeys
        /// Of the file before and after it was last read; nil when it has changed meanwhile: it is read again then.
        var stamp: SecretFile.Stamp?
        var looked = ContinuousClock.now
        /// Of the file when it had no key at the last look: what is written in place has none for a moment.
        var empty: SecretFile.Stamp?
        /// Why it could not be read when it was tried last; it is tried again then.
        var failure: String?
    }

    /// Where the keys are.
    package let path: String
    private let state: Mutex<State>

    /// Reads the file at `path`, which must hold a key.
    ///
    /// - Throws: ``SecretFault`` as ``DatagramKeys`` does.
    package init(_ path: String) throws(SecretFault) {
        self.path = path
        let (keys, stamp) = try Self.read(path, mayBeNone: false)
        state = Mutex(State(keys: keys, stamp: stamp))
    }

    /// The keys. `note` hears when they were read again, or cannot be: what was read before stays in use then.
    package func current(note: (String) -> Void) -> DatagramKeys {
        let (keys, text) = state.withLock { state in
            let text = renew(&state)
            return (state.keys, text)
        }
        if let text { note(text) }
        return keys
    }

    private func renew(_ state: inout State) -> String? {
        let now = ContinuousClock.now
        guard now - state.looked >= Self.interval else { return nil }
        state.looked = now
        guard state.failure != nil || state.stamp == nil || SecretFile(path).stamp != state.stamp else { return nil }
        do throws(SecretFault) {
            let (keys, stamp) = try Self.read(path, mayBeNone: true)
            state.failure = nil
            // Without a key in it at two looks, all are withdrawn.
            guard !keys.all.isEmpty || stamp != nil && stamp == state.empty else {
                (state.empty, state.stamp) = (stamp, nil)
                return nil
            }
            (state.keys, state.stamp, state.empty) = (keys, stamp, nil)
            return "the keys of \(path) were read again: there are \(state.keys.all.count)"
        } catch {
            let isTold = state.failure == error.message
            state.failure = error.message
            return isTold ? nil : "the former keys stay in use: \(error.message)"
        }
    }

    /// How often a file is read that changes meanwhile.
    private static let mostReads = 4

    /// Reads until the file is the same before and after: one that is being written may begin as a file of its own.
    private static func read(
        _ path: String, mayBeNone: Bool
    ) throws(SecretFault) -> (keys: DatagramKeys, stamp: SecretFile.Stamp?) {
        let file = SecretFile(path)
        var before = file.stamp
        for _ in 1..<mostReads {
            let keys = try DatagramKeys(path, mayBeNone: mayBeNone)
            let after = file.stamp
            if after == before { return (keys, after) }
            before = after
        }
        // The next look reads it again.
        return (try DatagramKeys(path, mayBeNone: mayBeNone), nil)
    }
}
