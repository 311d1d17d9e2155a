import Synchronization

/// The list of peers of a source, which is read again when its file, or that of a token, has changed. For any thread.
package final class PeerBook: Sendable {
    /// Reads the file.
    ///
    /// - Throws: ``SettingProblem`` that names its place.
    package typealias Load = @Sendable () throws(SettingProblem) -> (list: PeerList, files: [String])

    /// How often the files are looked at, at most.
    private static let interval = Duration.seconds(1)

    private struct State {
        var list: PeerList
        var files: [String]
        var stamps: [SecretFile.Stamp?]
        var looked = ContinuousClock.now
        /// Why the list could not be read when it was tried last; it is tried again then.
        var failure: String?
    }

    /// Where the list is.
    package let path: String
    private let load: Load
    private let demands = Mutex<(@Sendable (PeerList) -> SettingProblem?)?>(nil)
    private let state: Mutex<State>

    /// Reads the list at `path` by `load`.
    ///
    /// - Throws: ``SettingProblem`` as `load` does.
    package init(_ path: String, _ load: @escaping Load) throws(SettingProblem) {
        self.path = path
        self.load = load
        state = Mutex(try Self.read(load))
    }

    /// Refuses lists that are read from here on in which `problem` finds one.
    package func demand(_ problem: @escaping @Sendable (PeerList) -> SettingProblem?) {
        demands.withLock { $0 = problem }
    }

    /// How many peers it has, as it was read last.
    var count: Int { state.withLock { $0.list.count } }

    /// The tags that its peers give to their readings, as it was read last.
    var tagTexts: [String] { state.withLock { $0.list.tagTexts } }

    /// Whether the file had errors when it was tried last: the list in use is a former one.
    var isRefused: Bool { state.withLock { $0.failure != nil } }

    /// The list. `note` hears when it was read again, or cannot be: what was read before stays in use then.
    func current(note: (String) -> Void) -> PeerList {
        let (list, text) = state.withLock { state in
            let text = renew(&state)
            return (state.list, text)
        }
        if let text { note(text) }
        return list
    }

    private func renew(_ state: inout State) -> String? {
        let now = ContinuousClock.now
        guard now - state.looked >= Self.interval else { return nil }
        state.looked = now
        guard state.failure != nil || Self.stamps(state.files) != state.stamps else { return nil }
        do throws(SettingProblem) {
            let new = try Self.read(load)
            if let problem = demands.withLock({ $0 })?(new.list) {
                throw SettingProblem(message: "\(path): \(problem.message)", advice: problem.advice)
            }
            state = new
            return "the peers of \(path) were read again: there are \(state.list.count)"
        } catch {
            let text = "the former peers stay in use: \(error.message); \(error.advice)"
            let isTold = state.failure == text
            state.failure = text
            return isTold ? nil : text
        }
    }

    /// Reads until the files are the same before and after: one that is being written may begin as a list of its own.
    private static func read(_ load: Load) throws(SettingProblem) -> State {
        var (list, files) = try load()
        for _ in 0..<mostReads {
            let before = stamps(files)
            let again = try load()
            let isSettled = again.files == files && stamps(files) == before
            (list, files) = again
            if isSettled { return State(list: list, files: files, stamps: before) }
        }
        // The next look reads them again.
        return State(list: list, files: files, stamps: [])
    }

    /// How often files are read that change meanwhile.
    private static let mostReads = 4

    private static func stamps(_ files: [String]) -> [SecretFile.Stamp?] { files.map { SecretFile($0).stamp } }
}
