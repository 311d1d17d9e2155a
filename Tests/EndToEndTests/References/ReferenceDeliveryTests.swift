import CommandSupport
import Foundation
import Kymograph
import KymographTestKit
import Testing

/// Resources of every kind arrive on the strict server with all their References, which name there what they named
/// here.
@Suite(
    .serialized,
    .enabled(if: SharedMaterial.canRunPython, "KYMO_SHARED and KYMO_PYTHON name no server that runs"))
struct ReferenceDeliveryTests {
    private static let gateway = "FE-ED-AB-EE-DE-AD-77-C3"
    private static let gatewaySystem = "urn:oid:1.2.840.10004.1.1.1.0.0.1.0.0.1.2680"

    @Test(arguments: ["transaction", "batch"], ReferenceInputs.all)
    func withDevicesThatAreMade(form: String, input: ReferenceInputs) async throws {
        guard input.profile == nil || form == "transaction" else { return }
        // A lone entry needs room for its Patient, its Device and the gateway.
        let server = try FHIRServer(arguments: ["--max-entries", "5"])
        try await server.waitUntilReady()
        let rows = try rows(input, form)
        try deliver(rows, to: server, .create, entries: 20)
        try await check(server, try SentContent(rows), isLiteral: form == "transaction")
    }

    @Test(arguments: ["transaction", "batch"], ReferenceInputs.all)
    func withRegisteredDevices(form: String, input: ReferenceInputs) async throws {
        guard input.profile == nil || form == "transaction" else { return }
        let server = try FHIRServer(arguments: ["--max-entries", "3"])
        try await server.waitUntilReady()
        let rows = try rows(input, form)
        try await register(ReferenceInputs.devices, on: server)
        try deliver(rows, to: server, .lookup, entries: 12)
        let content = try SentContent(rows)
        try await check(server, content, isLiteral: true)
        let stats = try await server.stats()
        #expect(stats["resources"]?["Patient"] == .number("\(ReferenceInputs.devices.count)"), "\(stats)")
        // Whose the Devices are is what the server says, also after they were described.
        for (number, device) in ReferenceInputs.devices.enumerated() {
            let name = SentReference(type: "Device", identifier: "urn:kymograph:device|\(device)")
            let found = try await one(name, server)
            #expect(found?["patient"]?["reference"]?.text == "Patient/p\(number)", "\(device)")
        }
    }

    // MARK: Sending

    private func rows(_ input: ReferenceInputs, _ form: String) throws -> [[UInt8]] {
        var environment = [
            "KYMO_OUTPUT_BUNDLE": form, "KYMO_OUTPUT_MAX_ENTRIES": "12", "KYMO_OUTPUT_GATEWAY": Self.gateway,
        ]
        environment["KYMO_OUTPUT_PROFILE"] = input.profile
        let mappings = input.mappings.flatMap { ["--mapping", $0] }
        let done = try Kymo.run(
            ["run", "--stdin", "--window", "1m"] + mappings, environment: environment,
            input: .bytes(Readings.ndjson(input.lines)))
        #expect(done.end == .exit(0) && !done.error.contains("rejected 1"), "\(done.error)")
        return done.output.split(separator: 0x0A).map(Array.init)
    }

    private func register(_ devices: [String], on server: FHIRServer) async throws {
        for (number, device) in devices.enumerated() {
            try await server.put(
                "/Patient/p\(number)",
                #"{"resourceType":"Patient","id":"p\#(number)","identifier":"#
                    + #"[{"system":"urn:kymograph:patient","value":"of-\#(device)"}]}"#)
            try await server.put(
                "/Device/d\(number)",
                #"{"resourceType":"Device","id":"d\#(number)","patient":{"reference":"Patient/p\#(number)"},"#
                    + #""identifier":[{"system":"urn:kymograph:device","value":"\#(device)"}]}"#)
        }
        try await server.put(
            "/Device/gateway",
            #"{"resourceType":"Device","id":"gateway","identifier":[{"system":"\#(Self.gatewaySystem)","#
                + #""value":"\#(Self.gateway)"}]}"#)
    }

    private func deliver(
        _ rows: [[UInt8]], to server: FHIRServer, _ identity: ResourceIdentityMode, entries: Int
    ) throws {
        let outbox = MemoryOutbox()
        for row in rows { outbox.add(row) }
        var settings = DeliverySettings(base: server.base, identity: identity)
        settings.maxEntries = entries
        settings.firstBackoff = 2_000_000
        settings.longestBackoff = 50_000_000
        let delivery = try ServerDelivery(
            settings, queue: outbox, transport: CurlTransport(), authorizer: OpenAuthorizer(),
            random: SeededGenerator(seed: 3))
        delivery.start()
        delivery.finish()
        #expect(delivery.wait(milliseconds: 60_000), "\(delivery.status)")
        delivery.stop()
        #expect(outbox.isSettled)
        let refused = outbox.undeliverable
        #expect(refused.isEmpty, "\(refused.count): \(refused.first.map { "\($0.resource) \($0.detail)" } ?? "")")
    }

    // MARK: What the server holds

    private func check(_ server: FHIRServer, _ content: SentContent, isLiteral: Bool) async throws {
        #expect(!content.resources.isEmpty && !content.targets.isEmpty)
        for (name, sent) in content.resources {
            guard let stored = try await one(name, server) else {
                Issue.record("\(name) is not on the server")
                continue
            }
            for member in ["status", "serialNumber"] {
                #expect(stored[member] == sent.resource[member], "\(name): \(member)")
            }
            let places = Dictionary(uniqueKeysWithValues: SentReference.places(in: stored).map { ($0.place, $0.node) })
            for (place, target) in sent.references {
                guard let reference = places[place] else {
                    Issue.record("\(name) has no reference at \(place)")
                    continue
                }
                let fault = try await fault(of: reference, target, isLiteral: isLiteral, server)
                #expect(fault == nil, "\(name) at \(place): \(fault ?? "")")
            }
        }
        let stats = try await server.stats()
        #expect(stats["identifier_dups"] == .number("0"), "\(stats)")
    }

    /// Why a stored reference does not name `target`; nil when it does.
    private func fault(
        of reference: JSONTree, _ target: SentReference, isLiteral: Bool, _ server: FHIRServer
    ) async throws -> String? {
        guard let text = reference["reference"]?.text else {
            if isLiteral { return "\(reference) is no reference to a resource" }
            guard reference["type"]?.text == target.type else { return "\(reference) is no \(target.type)" }
            return try await one(target, server) == nil ? "\(target) is not on the server" : nil
        }
        let (body, status) = try await server.get("/\(text)")
        guard status == 200 else { return "\(text) is not on the server" }
        let found = try JSONTree(parsing: Array(body))
        guard found["resourceType"]?.text == target.type else { return "\(text) is no \(target.type)" }
        // The server knows its Patients by names of its own.
        if target.type == "Patient", found["identifier"] == nil { return nil }
        return SentReference(found) == target ? nil : "\(text) is not \(target)"
    }

    /// The one resource of an identity; nil when there is none, or more.
    private func one(_ name: SentReference, _ server: FHIRServer) async throws -> JSONTree? {
        let parts = name.identifier.split(separator: "|", maxSplits: 1).map(String.init)
        let query = IdentifierSearch.query(system: parts[0], value: parts[1])
        let (body, _) = try await server.get("/\(name.type)?\(query)")
        let found = try JSONTree(parsing: Array(body))["entry"]?.elements ?? []
        return found.count == 1 ? found[0]["resource"] : nil
    }
}
