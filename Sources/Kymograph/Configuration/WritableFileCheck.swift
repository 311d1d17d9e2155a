import KymographCore
import KymographTemplates

/// Notes files that say what a reading means, whose it is or where it goes, and that users other than their owner and
/// root can write. What has a secret is refused instead (``SecretFile``).
struct WritableFileCheck {
    /// Files and folders that were looked at.
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
            for path in number == 0 ? [file] : [file, folder] {
                guard let problem = problem(path) else { continue }
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
                note("\(name.hasSuffix("/") ? name : name + "/")\(file)", origin, &log)
            }
        }
        note(files.device, origins["deviceMapping"], &log)
        note(files.fhir, origins["fhirMapping"], &log)
    }

    private mutating func note(_ path: String?, _ origin: SettingOrigin?, _ log: inout ConfigurationLog) {
        guard let path, let origin, let problem = problem(path) else { return }
        log.add(.warning, origin, problem.message, advice: problem.advice)
    }

    /// What is wrong with `path`, and what to do; nil when nothing is, and the second time.
    private mutating func problem(_ path: String) -> (message: String, advice: String)? {
        guard seen.insert(path).inserted, let mode = FilePermissions.modeOpenToOthers(path) else { return nil }
        return (
            "\(path) can be changed by users other than its owner (mode \(mode)), and with it what readings mean",
            "run 'chmod go-w' on it"
        )
    }
}
