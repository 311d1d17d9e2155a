import Synchronization

/// The keys of a source of sealed datagrams, which reads its file again when it has changed. For any thread.
package final class RenewedDatagramKeys: Sendable {
    /// How often the file is looked at, at most.
    private static let interval = Duration.seconds(1)

    private struct State {
        var keys: DatagramKeys
        /// Of the file when it was last read.
        var stamp: SecretFile.Stamp?
        var looked = ContinuousClock.now
        /// Why it could not be read when it was tried last.
        var failure: String?
    }

    /// Where the keys are.
    package let path: String
    private let state: Mutex<State>

    /// Reads the file at `path`.
    ///
    /// - Throws: ``SecretFault`` as ``DatagramKeys`` does.
    package init(_ path: String) throws(SecretFault) {
        let file = SecretFile(path)
        let stamp = file.stamp
        self.path = path
        state = Mutex(State(keys: try DatagramKeys(path), stamp: stamp))
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
        let stamp = SecretFile(path).stamp
        guard stamp != state.stamp || state.failure != nil else { return nil }
        do throws(SecretFault) {
            (state.keys, state.stamp) = (try DatagramKeys(path), stamp)
            state.failure = nil
            return "the keys of \(path) were read again: there are \(state.keys.all.count)"
        } catch {
            let isTold = state.failure == error.message
            state.failure = error.message
            return isTold ? nil : "the former keys stay in use: \(error.message)"
        }
    }
}
