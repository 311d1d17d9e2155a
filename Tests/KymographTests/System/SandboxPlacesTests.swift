import CKymographLinux
import CommandSupport
import Glibc
@testable import Kymograph
import KymographTestKit
import Testing

/// What a thread can change when it has given up all but some places.
@Suite struct SandboxPlacesTests {
    private typealias Files = CommandSupport.Files

    /// What one attempt gave: 0 or an errno.
    private struct Attempt: Equatable, Sendable {
        var what: String
        var code: Int32
    }

    /// What comes of `attempts` on a thread of its own, which is confined to `places`; nil without Landlock.
    private func confined(
        to places: [WritePlace], _ attempts: [(what: String, run: @Sendable () -> Int32)]
    ) throws -> [Attempt]? {
        let outcome: Result<[Attempt]?, SystemError> = AwaitedValue.waiting { done in
            WorkerThread.start("kymo-confined") {
                do throws(SystemError) {
                    let isConfined = try Sandbox.enter(places) != nil
                    done(.success(isConfined ? attempts.map { Attempt(what: $0.what, code: $0.run()) } : nil))
                } catch {
                    done(.failure(error))
                }
            }
        }
        return try outcome.get()
    }

    @Sendable private static func made(_ path: String) -> Int32 {
        // Safe here and below: Swift lends each path for the call.
        let raw = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard raw >= 0 else { return errno }
        close(raw)
        return 0
    }

    @Sendable private static func code(_ result: Int32) -> Int32 { result < 0 ? errno : 0 }

    @Test func filesInsideAndOutside() throws {
        let folder = TemporaryFolder()
        let (inside, outside) = (folder.file("inside"), folder.file("outside"))
        for path in [inside, outside] { unsafe mkdir(path, 0o700) }
        for name in ["inside/a", "inside/b", "outside/a", "outside/b"] { folder.write(name, "text") }
        unsafe symlink(outside, "\(inside)/link")
        let attempts: [(what: String, run: @Sendable () -> Int32)] = [
            ("makes inside", { Self.made("\(inside)/new") }),
            ("makes below", { Self.code(unsafe mkdir("\(inside)/d", 0o700)) | Self.made("\(inside)/d/new") }),
            ("renames inside", { Self.code(unsafe rename("\(inside)/a", "\(inside)/c")) }),
            ("removes inside", { Self.code(unsafe unlink("\(inside)/b")) }),
            ("cuts inside", { Self.code(unsafe truncate("\(inside)/c", 1)) }),
            ("writes nowhere", { Self.made("/dev/null") }),
            (
                "reads outside",
                { unsafe access("\(outside)/a", R_OK) == 0 && Files.text("\(outside)/a") == "text" ? 0 : 1 }
            ),
            ("makes outside", { Self.made("\(outside)/new") }),
            ("appends outside", { Self.made("\(outside)/a") }),
            ("makes by a link", { Self.made("\(inside)/link/new") }),
            ("renames out", { Self.code(unsafe rename("\(inside)/c", "\(outside)/c")) }),
            ("renames in", { Self.code(unsafe rename("\(outside)/b", "\(inside)/b")) }),
            ("removes outside", { Self.code(unsafe unlink("\(outside)/a")) }),
            ("makes a folder outside", { Self.code(unsafe mkdir("\(outside)/d", 0o700)) }),
            ("makes a link inside", { Self.code(unsafe symlink("/", "\(inside)/root")) }),
        ]
        guard let found = try confined(to: [.folder(inside)], attempts) else { return expectNoLandlock() }
        for attempt in found.prefix(7) { #expect(attempt.code == 0, "\(attempt)") }
        for attempt in found.dropFirst(7) { #expect([EACCES, EXDEV].contains(attempt.code), "\(attempt)") }
        #expect(Files.text("\(outside)/a") == "text" && Files.names(outside) == ["a", "b"])
    }

    @Test func noProgramIsStarted() throws {
        let run: @Sendable () -> Int32 = {
            // A thread must not fork: what is asked here is whether the file could be executed.
            var pid = pid_t()
            var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [strdup("/bin/true"), nil]
            defer { unsafe free(arguments[0]) }
            let code = unsafe posix_spawn(&pid, "/bin/true", nil, nil, &arguments, nil)
            if code == 0 { _ = waitpid(pid, nil, 0) }
            return code
        }
        #expect(run() == 0)
        guard let found = try confined(to: [], [("runs", run)]) else { return expectNoLandlock() }
        #expect(found.map(\.code) == [EACCES])
    }

    /// A folder that is not there is made in the nearest one above it; a device is written to itself.
    @Test func placesThatAreNotThere() throws {
        let folder = TemporaryFolder()
        let new = folder.file("a/b")
        let made: @Sendable () -> Int32 = {
            unsafe Self.code(mkdir(folder.file("a"), 0o700)) | Self.code(mkdir(new, 0o700)) | Self.made("\(new)/c")
        }
        let places: [WritePlace] = [.folder(new), .file(folder.file("x/../letters")), .file("/dev/full")]
        let attempts: [(what: String, run: @Sendable () -> Int32)] = [
            ("makes it", made), ("opens a device", { Self.made("/dev/full") }), ("another", { Self.made("/dev/zero") }),
        ]
        guard let found = try confined(to: places, attempts) else { return expectNoLandlock() }
        #expect(found.map(\.code) == [0, 0, EACCES], "\(found)")
    }

    /// A file by a link is where the link leads, there or not.
    @Test func filesByLinks() throws {
        let folder = TemporaryFolder()
        for name in ["a", "b", "c"] { unsafe mkdir(folder.file(name), 0o700) }
        folder.write("b/there", "")
        unsafe symlink("../b/there", folder.file("a/known"))
        unsafe symlink("../c/new", folder.file("a/missing"))
        let attempts: [(what: String, run: @Sendable () -> Int32)] = [
            ("appends", { Self.made(folder.file("a/known")) }), ("makes", { Self.made(folder.file("a/missing")) }),
            ("makes beside the link", { Self.made(folder.file("a/other")) }),
        ]
        let places: [WritePlace] = [.file(folder.file("a/known")), .file(folder.file("a/missing"))]
        guard let found = try confined(to: places, attempts) else { return expectNoLandlock() }
        #expect(found.map(\.code) == [0, 0, EACCES], "\(found)")
    }

    /// What comes later is looked at as the kernel does: without links, and in the nearest folder that is there.
    @Test func whatIsAllowed() throws {
        let folder = TemporaryFolder()
        let (inside, outside) = (folder.file("in"), folder.file("inner"))
        for path in [inside, outside] { unsafe mkdir(path, 0o700) }
        unsafe symlink(outside, "\(inside)/link")
        unsafe symlink(inside, "\(outside)/back")
        let found: [Bool]? = AwaitedValue.waiting { done in
            WorkerThread.start("kymo-confined") {
                let sandbox = try? Sandbox.enter([.folder(inside)])
                let places: [WritePlace] = [
                    .folder(inside), .folder("\(inside)/new/one"), .file("\(inside)/letters"),
                    .folder("\(outside)/back/x"),
                    .folder(outside), .folder("\(inside)/link"), .folder("\(inside)/../inner"),
                    .file("\(outside)/letters"),
                    .devices, .file("/dev/full"),
                ]
                done(sandbox.map { sandbox in places.map(sandbox.allows) })
            }
        }
        guard let found else { return expectNoLandlock() }
        #expect(found == Array(repeating: true, count: 4) + Array(repeating: false, count: 6))
    }

    private func expectNoLandlock() { #expect(kymo_landlock_version() == 0) }
}
