import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Another program has the database locked: that is waited for, as a full disk is.
@Suite struct LockedDatabaseTests {
    @Test func aLockIsWaitedFor() throws {
        let run = StoredRun()
        let process = try Kymo.start([
            "run", "--unix", run.folder.file("k.sock"), "--data", run.data, "--out", run.output,
        ])
        _ = try process.addresses()
        let client = try AckClient(run.folder.file("k.sock"))
        try run.locked {
            client.send(Readings.ndjson(Readings.heartRates(10)))
            try process.waitForError("database is locked")
            client.receive()
            #expect(client.acknowledged == 0)
        }
        try Waiting.until("acknowledgements: \(process.errorText)") {
            client.receive()
            return client.acknowledged == 10
        }
        let done = try process.terminate()
        #expect(done.end == .exit(0) && done.error.contains("takes data again"), "\(done.error)")
    }
}
