import Glibc
import Kymograph
import Testing

/// Sets the permissions of a file.
func setMode(_ path: String, _ mode: mode_t) {
    precondition(unsafe chmod(path, mode) == 0, "cannot change the mode of \(path)")
}

/// Secrets in files: who may read them, what they may hold, and when they are read again.
@Suite struct SecretFileAuthorizerTests {
    private let scratch = Scratch()
    private let record = AuthorizationRecord()

    private func write(_ text: String, mode: mode_t = 0o600) -> SecretFile {
        let path = scratch.file("secret")
        Files.write(path, Array(text.utf8))
        setMode(path, mode)
        return SecretFile(path)
    }

    @Test func makesBearerAndBasicValues() {
        record.ask(SecretFileAuthorizer(.bearer, file: write("abc.def~+/=\r\n")))
        record.ask(SecretFileAuthorizer(.basic(user: "ward"), file: write("open sesame: ü")))
        record.ask(OpenAuthorizer())
        #expect(record.values == ["Bearer abc.def~+/=", "Basic d2FyZDpvcGVuIHNlc2FtZTogw7w=", nil])
        #expect(record.failures.isEmpty)
    }

    @Test func readsAChangedFileAgain() {
        let file = write("one")
        let authorizer = SecretFileAuthorizer(.bearer, file: file)
        record.ask(authorizer)
        record.ask(authorizer)
        // As secrets are rotated: another file takes its place.
        let next = scratch.file("next")
        Files.write(next, Array("two".utf8))
        setMode(next, 0o600)
        #expect(unsafe rename(next, file.path) == 0)
        record.ask(authorizer)
        #expect(record.values == ["Bearer one", "Bearer one", "Bearer two"])
    }

    @Test func survivesTheMomentOfARotation() {
        let file = write("one")
        let authorizer = SecretFileAuthorizer(.bearer, file: file)
        record.ask(authorizer)
        unsafe unlink(file.path)
        record.ask(authorizer)
        #expect(record.values == ["Bearer one", "Bearer one"])
        authorizer.refused("Bearer two")
        record.ask(authorizer)
        #expect(record.failures.isEmpty)
        authorizer.refused("Bearer one")
        record.ask(authorizer)
        #expect(record.failures.map(\.isRetriable) == [true])
        _ = write("two")
        record.ask(authorizer)
        #expect(record.values.last == "Bearer two")
    }

    @Test(arguments: [0o600, 0o400, 0o640, 0o604, 0o620, 0o666, 0o444] as [mode_t])
    func readsOnlyWhatOthersCannot(_ mode: mode_t) {
        record.ask(SecretFileAuthorizer(.bearer, file: write("hunter2", mode: mode)))
        guard mode & 0o077 != 0 else {
            #expect(record.values == ["Bearer hunter2"])
            return
        }
        #expect(record.failures.map(\.isRetriable) == [false])
        let octal = String(mode, radix: 8)
        let message = "can be read or changed by others (mode 0\(octal)); run 'chmod 600' on it"
        #expect(record.failures.first?.message == "\(scratch.file("secret")) \(message)")
    }

    /// As orchestrators mount secrets: root's files, which the group of the service may read.
    @Test(.enabled(if: geteuid() == 0)) func readsWhatRootLetsTheGroupRead() async {
        await #expect(processExitsWith: .success) {
            let (nobody, stranger): (uid_t, uid_t) = (65_534, 65_533)
            let tests = SecretFileAuthorizerTests()
            let path = tests.write("abc").path
            setMode(tests.scratch.path, 0o755)
            for (owner, mode, isRead) in [
                (0, 0o440, true), (0, 0o444, false), (0, 0o460, false), (nobody, 0o400, true), (nobody, 0o440, false),
                (stranger, 0o440, false),
            ] as [(uid_t, mode_t, Bool)] {
                try #require(unsafe chown(path, owner, nobody) == 0)
                setMode(path, mode)
                try #require(setegid(nobody) == 0 && seteuid(nobody) == 0)
                tests.record.ask(SecretFileAuthorizer(.bearer, file: SecretFile(path)))
                try #require(seteuid(0) == 0 && setegid(0) == 0)
                try #require((tests.record.values.last == "Bearer abc") == isRead, "\(owner) \(mode)")
            }
        }
    }

    @Test func refusesWhatIsNoSecret() {
        for text in [
            "", "\n", "two\nlines", "hunter2\u{7}", "hun ter2", "hünter2", String(repeating: "x", count: 70_000),
        ] {
            record.ask(SecretFileAuthorizer(.bearer, file: write(text)))
        }
        #expect(record.values.allSatisfy { $0 == nil })
        #expect(record.failures.count == 7)
        #expect(record.failures.allSatisfy { !$0.message.contains("ter2") })
        record.ask(SecretFileAuthorizer(.bearer, file: SecretFile(scratch.path)))
        #expect(record.failures.last?.message == "\(scratch.path) is no file")
    }
}
