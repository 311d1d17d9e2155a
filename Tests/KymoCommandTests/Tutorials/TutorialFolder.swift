import CommandSupport
import Glibc

/// A folder that is empty for the reader of a tutorial, and beside it what stands for the machine: programs, `/etc`,
/// `/var` and `/run`.
///
/// Paths of the machine and ports of the page are others while a step runs, and the page's again in what it prints.
final class TutorialFolder {
    private let folder = TemporaryFolder()
    /// What the page says, and what is run in its place.
    private let places: [(onPage: String, here: String)]

    /// Where the commands run.
    var path: String { folder.file("reader") }
    var programs: String { folder.file("bin") }

    init(_ tutorial: Tutorial) throws {
        let folder = folder
        var places = ["/etc/kymograph", "/var/lib/kymo", "/run/kymo"].map { ($0, folder.file(String($0.dropFirst()))) }
        for port in [2575, 5757, 5780, 5790] {
            places.append(("127.0.0.1:\(port)", "127.0.0.1:\(try FreePort.find())"))
        }
        let server = try FreePort.find()
        places.append(("http://localhost:8080/fhir", "http://localhost:\(server)"))
        self.places = places
        for name in ["reader", "bin", "etc", "var", "var/lib", "run", "etc/kymograph", "var/lib/kymo", "run/kymo"] {
            unsafe mkdir(folder.file(name), 0o755)
        }
        installPackage()
        writePrograms(server)
    }

    /// `text` with what is run in place of what the page says.
    func localised(_ text: String) -> String {
        places.reduce(text) { $0.replacing($1.onPage, with: $1.here) }
    }

    /// `text` with what the page says in place of what was run.
    func asOnPage(_ text: String) -> String {
        places.reduce(text) { $0.replacing($1.here, with: $1.onPage) }
    }

    /// What `apt` puts into `/etc` and `/lib`.
    private func installPackage() {
        let packaging = "\(SharedMaterial.package)/packaging"
        folder.write("etc/kymograph/kymo.yaml", localised(Files.text("\(packaging)/kymo.yaml")))
        let unit = Files.text("\(packaging)/kymo.service").replacing("/usr/bin/kymo", with: folder.file("bin/kymo"))
        folder.write("etc/kymo.service", localised(unit))
    }

    private func writePrograms(_ server: UInt16) {
        let servers = "\(SharedMaterial.package)/Tests/Servers"
        let stub = "\(SharedMaterial.root ?? "")/fhir/fhir_server_stub.py"
        let state = "'\(folder.file("etc/kymo.service"))' '\(folder.file("unit"))'"
        let programs = [
            "kymo": "exec '\(Kymo.path)' \"$@\"",
            "sudo": "[ \"$1\" = -u ] && shift 2\nexec \"$@\"",
            "systemctl": "exec '\(SharedMaterial.python)' -B '\(servers)/systemctl.py' \(state) \"$@\"",
            "python3": "exec '\(SharedMaterial.python)' -B \"$@\"",
            "docker": """
            [ "$1" = run ] || { echo "docker: only 'run' is known here" >&2; exit 1; }
            '\(SharedMaterial.python)' -B '\(stub)' --port \(server) --profiles >/dev/null 2>&1 &
            echo 4f8d
            """,
        ]
        for (name, text) in programs {
            let path = folder.write("bin/\(name)", "#!/bin/sh\n\(text)\n")
            unsafe chmod(path, 0o755)
        }
    }
}
