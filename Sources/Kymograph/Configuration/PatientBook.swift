package import KymographCore
import Synchronization

/// The patient map of a pipeline, which is read again when its file has changed. For any thread.
package final class PatientBook: Sendable {
    /// Reads the file.
    ///
    /// - Throws: ``SettingProblem`` that names its place.
    package typealias Load = @Sendable () throws(SettingProblem) -> PatientMap

    private struct State {
        /// Former maps, whose devices are of one patient at a time all the same.
        var history: PatientHistory
        var facts = PatientMapFacts()
    }

    private let file: WatchedFile<PatientMap>
    private let state: Mutex<State>

    /// Reads the map at `path` by `load`.
    ///
    /// - Throws: ``SettingProblem`` as `load` does.
    package init(_ path: String, _ load: @escaping Load) throws(SettingProblem) {
        file = try WatchedFile(path, load)
        let (map, now) = (file.current.value, WallClock.now())
        var state = State(history: PatientHistory(map, at: now))
        state.facts.note(map, at: now)
        self.state = Mutex(state)
    }

    /// Where the map is.
    package var path: String { file.path }

    /// The map in use, and the ``generation`` that it has.
    package var current: (map: PatientMap, generation: Int) {
        let (map, generation) = file.current
        return (map, generation)
    }

    /// What is told of it.
    var facts: PatientMapFacts { state.withLock { $0.facts } }

    /// Reads the file if it has changed, and stayed as it is for two looks; what to tell the operator then.
    func look(_ policy: PatientPolicy) -> LogEntry? { file.hasSettled ? reread(policy) : nil }

    /// Reads the file; what to tell the operator. What cannot be used leaves the former map in use.
    func reread(_ policy: PatientPolicy) -> LogEntry {
        do throws(SettingProblem) {
            return replace(with: try file.read(), policy)
        } catch {
            state.withLock { $0.facts.noteFailure() }
            return .change(
                .error, "patients.refused", ("file", path),
                "the former patient map stays in use: \(error.message); \(error.advice)")
        }
    }

    private func replace(with map: PatientMap, _ policy: PatientPolicy) -> LogEntry {
        let now = WallClock.now()
        // Nothing else replaces it.
        let former = file.current.value
        let change = state.withLock { state in
            let change = PatientChange(from: former, to: map, before: now) { device, start in
                state.history.mayHaveFiled(device, at: start, policy)
            }
            state.history.note(former, replacedBy: map, at: now)
            state.facts.note(map, at: now)
            state.facts.note(change)
            return change
        }
        // Behind that: who does not find a device in the map finds it among the former ones.
        file.replace(with: map)
        let text = "the patient map \(path) was read again: periods \(map.count), devices \(map.deviceCount)"
        guard change.periods > 0 else {
            return .change(.info, DeedKind.patientsLoaded.rawValue, ("file", path), text).audited(as: .patientsLoaded)
        }
        let entry = LogEntry.change(
            .warning, DeedKind.patientsChanged.rawValue, ("file", path),
            "\(text); of the past, \(CountText.of(change.periods, "period")) (devices \(change.devices)) "
                + "\(change.periods == 1 ? "is" : "are") of another patient or encounter than readings may have been "
                + "filed for: what has been filed stays as it is, and is not filed a second time; see docs/patients.md",
            fields: [("periods", .number(change.periods)), ("devices", .number(change.devices))])
        return entry.audited(as: .patientsChanged)
    }
}

extension PatientBook: DeviceGuard {
    package var generation: Int { file.generation }

    package func holds(_ device: [UInt8]) -> Bool {
        device.withByteView { file.current.value.holds($0) }
            || state.withLock { $0.history.hasHad(device) }
    }
}
