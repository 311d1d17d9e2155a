import CommandSupport
import KymographTestKit
import Testing
import TrialSupport

/// Sealed files: what is cut or changed is found.
@Suite struct SealedFileTests {
    @Test func whatIsChangedIsFound() throws {
        let run = try SealedRun(isSealed: true)
        #expect(try run.run(SealedRun.lines(400)).end == .exit(0))
        let name = try #require(Files.names(run.output).first)
        #expect(name.hasSuffix(".ndjson.sealed"))
        let file = "\(run.output)/\(name)"
        let bytes = Files.read(file)
        let whole = try run.content(file)
        var random = SeededBytes(seed: Trials.seed(31))
        let copy = run.folder.file("copy")
        for trial in 0..<40 {
            var changed = bytes
            if trial % 2 == 0 {
                changed[random.next(upTo: bytes.count)] ^= 1 << UInt8(random.next(upTo: 8))
            } else {
                changed.removeLast(1 + random.next(upTo: bytes.count - 1))
            }
            Files.write(changed, to: copy)
            let done = try Kymo.run(["decrypt", copy, "--data", run.data] + run.keyFlag)
            #expect(done.end == .exit(65), "trial \(trial): \(done.error)")
            #expect(whole.starts(with: done.output), "trial \(trial)")
        }
    }

    @Test func otherFiles() throws {
        let (run, other) = (try SealedRun(isSealed: true), try SealedRun(isSealed: true))
        for one in [run, other] { #expect(try one.run(SealedRun.lines(400)).end == .exit(0)) }
        let foreign = "\(other.output)/\(Files.names(other.output)[0])"
        let strange = try Kymo.run(["decrypt", foreign, "--data", run.data] + run.keyFlag)
        #expect(strange.end == .exit(65) && strange.error.contains("another store"), "\(strange.error)")
        let text = run.folder.write("text", "text")
        let plain = try Kymo.run(["decrypt", text, "--data", run.data] + run.keyFlag)
        #expect(plain.end == .exit(65) && plain.error.contains("is not encrypted"), "\(plain.error)")
    }

    /// Dead letters go on where a crash has torn the last of them.
    @Test func aTornEndIsCutOff() throws {
        let run = try SealedRun(isSealed: true)
        #expect(try run.run(SealedRun.lines(50)).end == .exit(0))
        let before = try run.content(run.letters)
        #expect(try run.run(SealedRun.lines(50)).end == .exit(0))
        Files.write(Array(Files.read(run.letters).dropLast(3)), to: run.letters)
        #expect(try run.run(SealedRun.lines(50)).end == .exit(0))
        let after = try run.content(run.letters)
        #expect(after.starts(with: before) && (10..<15).contains(after.count { $0 == 0x0A }))
    }

    /// What is changed in the midst of dead letters is nothing that a crash has torn: what comes after it stays.
    @Test func whatComesAfterAChangeIsNotCutOff() throws {
        let run = try SealedRun(isSealed: true)
        for _ in 0..<3 { #expect(try run.run(SealedRun.lines(50)).end == .exit(0)) }
        let bytes = Files.read(run.letters)
        var changed = bytes
        // In the bytes of the first chunk, after the heads of the file and of the chunk.
        changed[48 + 40 + 5] ^= 1
        Files.write(changed, to: run.letters)
        let done = try run.run(SealedRun.lines(50))
        #expect(done.end == .exit(78) && done.error.contains("rejected.ndjson was changed"), "\(done.error)")
        #expect(Files.read(run.letters) == changed)
        Files.write(bytes, to: run.letters)
        #expect(try run.run(SealedRun.lines(50)).end == .exit(0))
        #expect(try run.content(run.letters).count { $0 == 0x0A } == 20)
    }

    /// A crash leaves the beginning of the head, or zeros where nothing was written.
    @Test func aTornHeadIsNothing() throws {
        let run = try SealedRun(isSealed: true)
        #expect(try run.run(SealedRun.lines(50)).end == .exit(0))
        let bytes = Files.read(run.letters)
        let before = try run.content(run.letters)
        for count in [1, 20, 47] {
            Files.write(Array(bytes.prefix(count)), to: run.letters)
            let done = try run.run(SealedRun.lines(50))
            #expect(done.end == .exit(0), "\(count): \(done.error)")
            #expect(try run.content(run.letters).count { $0 == 0x0A } == 5, "\(count)")
        }
        Files.write(bytes + [UInt8](repeating: 0, count: 500), to: run.letters)
        #expect(try run.run(SealedRun.lines(50)).end == .exit(0))
        #expect(try run.content(run.letters).starts(with: before))
    }

    /// What has dead letters in plain is not continued with encrypted ones.
    @Test func aPlainFileIsNotContinued() throws {
        let run = try SealedRun(isSealed: true)
        run.folder.write("rejected.ndjson", "{}\n")
        let done = try run.run(SealedRun.lines(50))
        #expect(done.end == .exit(78) && done.error.contains("is not encrypted"), "\(done.error)")
        #expect(Files.text(run.letters) == "{}\n")
    }
}
