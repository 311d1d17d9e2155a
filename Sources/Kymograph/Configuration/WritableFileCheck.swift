import KymographCore
import KymographTemplates

/// Notes files that say what a reading means, whose it is or where it goes, and that users other than their owner and
/// root can write, or can exchange since they can write the folder. What has a secret is refused instead
/// (``SecretFile``).
struct WritableFileCheck {
    /// Files and folders that were looked at, as they are called from the root on.
    private var seen: Set<String> = []

    /// Notes them in all that `settings` name.
    static func check(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        var check = WritableFileCheck()
        check.configuration(settings.configurationFiles, &log)
        check.note(settings.patients.book?.path, settings.origins["patients"], &log)
        check.note(settings.rules?.path, settings.origins["rules"], &log)
        check.note(settings.search.peers?.path, settings.origins["search.peers"], &log)
        check.mappings(settings.mappings, settings.namedFiles, settings.origins, &log)
        for source in settings.sources {
            check.note(source.configuration.peers?.path, source.origins["peers"], &log)
            check.mappings(source.mappings, source.namedFiles, source.origins, &log)
        }
    }

    /// The files of the configuration, and the folders of those that are included: a pattern may name what comes there.
    private mutating func configuration(_ files: [String], _ log: inout ConfigurationLog) {
        for (number, file) in files.enumerated() where file != "-" {
            let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "./"
            let included = number == 0 ? nil : problem(folder)
            for problem in [problem(file), included].compactMap({ $0 }) + problemsOfFolders(file) {
                log.add(
                    Diagnostic(
                        .warning, file: file, position: .start, message: problem.message, advice: problem.advice))
            }
        }
    }

    /// The folders among `names` with their files, and the two files of a mapping.
    private mutating func mappings(
        _ names: [String], _ files: NamedMappingFiles, _ origins: [String: SettingOrigin], _ log: inout ConfigurationLog
    ) {
        for (index, name) in names.enumerated() where name.contains("/") {
            let origin = origins["mappings[\(index)]"]
            note(name, origin, &log)
            for file in FileSystem.names(in: name) where file.hasSuffix(".json") {
                // Of their folder it is told above.
                add(problem("\(name.hasSuffix("/") ? name : name + "/")\(file)"), origin, &log)
            }
        }
        note(files.device, origins["deviceMapping"], &log)
        note(files.fhir, origins["fhirMapping"], &log)
    }

    private mutating func note(_ path: String?, _ origin: SettingOrigin?, _ log: inout ConfigurationLog) {
        guard let path, origin != nil else { return }
        for problem in [problem(path)] + problemsOfFolders(path) { add(problem, origin, &log) }
    }

    private func add(_ problem: Problem?, _ origin: SettingOrigin?, _ log: inout ConfigurationLog) {
        guard let problem, let origin else { return }
        log.add(.warning, origin, problem.message, advice: problem.advice)
    }

    /// What is wrong, and what to do.
    private typealias Problem = (message: String, advice: String)

    /// What is wrong with `path`; nil when nothing is, and the second time.
    private mutating func problem(_ path: String) -> Problem? {
        guard isNew(path), let mode = FilePermissions.modeOpenToOthers(path) else { return nil }
        return WritableFileCheck.problem(path, mode)
    }

    /// What is wrong with the folder that holds `path`, and, where that is a link, with the one of what it leads to;
    /// nothing the second time.
    private mutating func problemsOfFolders(_ path: String) -> [Problem] {
        guard FilePermissions.isFileOrFolder(path) else { return [] }
        return [path, FileSystem.resolved(path)].compactMap { name in
            guard let open = FilePermissions.folderOpenToOthers(of: name), isNew(open.folder)
            else { return nil }
            return WritableFileCheck.problem(open.folder, open.mode)
        }
    }

    private mutating func isNew(_ path: String) -> Bool { seen.insert(FileSystem.resolved(path)).inserted }

    private static func problem(_ path: String, _ mode: String) -> Problem {
        (
            "\(path) can be changed by users other than its owner (mode \(mode)), and with it what readings mean",
            "run 'chmod go-w' on it"
        )
    }
}
