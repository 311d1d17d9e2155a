import CommandSupport
import Foundation
import FoundationNetworking
import Glibc
import KymographTestKit
import Testing

/// The strict server of the shared folder, on a port of its own, with a memory that ends with it.
final class FHIRServer {
    /// Its URL, without a slash at the end.
    let base: String
    /// The port.
    let port: UInt16
    private let process: ChildProcess
    private let session = URLSession(configuration: .ephemeral)

    /// Starts a server of this version of FHIR: R4, R5 or STU3; on a free port, unless one is named.
    init(version: String = "R4", port named: UInt16? = nil, arguments: [String] = []) throws {
        port = try named ?? FHIRServer.freePort()
        base = "http://127.0.0.1:\(port)"
        let script = "\(SharedMaterial.root ?? "")/fhir/fhir_server_stub.py"
        process = try ChildProcess(
            SharedMaterial.python,
            ["-B", script, "--port", "\(port)", "--profiles", "--version", version] + arguments)
    }

    deinit {
        session.invalidateAndCancel()
    }

    /// Waits until the server answers.
    func waitUntilReady() async throws {
        for _ in 0..<600 {
            if let (_, status) = try? await get("/metadata"), status == 200 { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw WaitError(description: "the FHIR server does not answer: \(process.errorText)")
    }

    /// Gets a path; its body and status.
    func get(_ path: String) async throws -> (Data, Int) {
        try await send(URLRequest(url: url(path)))
    }

    /// Posts a bundle; the answer's body and status.
    func post(_ bundle: [UInt8]) async throws -> (Data, Int) {
        var request = URLRequest(url: url("/"))
        request.httpMethod = "POST"
        request.setValue("application/fhir+json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(bundle)
        return try await send(request)
    }

    /// Posts all of `bundles` three times, in random order; each entry must be taken each time.
    func postThreeTimes(_ bundles: [[UInt8]], _ form: String) async throws {
        var generator = SeededGenerator(seed: 12)
        for bundle in (bundles + bundles + bundles).shuffled(using: &generator) {
            let (answer, status) = try await post(bundle)
            #expect(status == 200, "\(form): \(String(decoding: answer.prefix(800), as: UTF8.self))")
            let entries = try JSONTree(parsing: Array(answer))["entry"]?.elements ?? []
            let failed = entries.filter { !($0["response"]?["status"]?.text ?? "").hasPrefix("20") }
            #expect(!entries.isEmpty && failed.isEmpty, "\(form): \(failed.prefix(2))")
        }
    }

    /// What the server holds.
    func stats() async throws -> JSONTree {
        let (body, _) = try await get("/_stats")
        return try JSONTree(parsing: Array(body))
    }

    /// Forgets everything that is stored.
    func reset() async throws { try await administer("/_reset", "{}") }

    /// Makes faults from here on: kinds, each with its share of the requests.
    func makeFaults(_ shares: [String: Double]) async throws {
        let members = shares.map { "\"\($0.key)\":\($0.value)" }
        try await administer("/_fault", "{\(members.joined(separator: ","))}")
    }

    /// Stores a resource under its id.
    func put(_ path: String, _ resource: String) async throws {
        var request = URLRequest(url: url(path))
        request.httpMethod = "PUT"
        request.setValue("application/fhir+json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(resource.utf8)
        let (_, status) = try await send(request)
        if status != 201, status != 200 { throw WaitError(description: "the FHIR server does not store: \(status)") }
    }

    private func administer(_ path: String, _ body: String) async throws {
        var request = URLRequest(url: url(path))
        request.httpMethod = "POST"
        request.httpBody = Data(body.utf8)
        let (_, status) = try await send(request)
        if status != 200 { throw WaitError(description: "the FHIR server does not do \(path): \(status)") }
    }

    private func url(_ path: String) -> URL { URL(string: base + path) ?? URL(filePath: "/") }

    private func send(_ request: URLRequest) async throws -> (Data, Int) {
        let (data, response) = try await session.data(for: request)
        return (data, (response as? HTTPURLResponse)?.statusCode ?? 0)
    }

    /// A port that the kernel has free now.
    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, length) == 0 ? unsafe getsockname(descriptor, generic, &length) : -1
            }
        }
        guard code == 0 else { throw WaitError(description: "no free port") }
        return UInt16(bigEndian: address.sin_port)
    }
}
