import KymographTemplates

extension ServerSettings {
    /// What is wrong with its files.
    package func obstacles(_ opening: SinkOpening) -> [SinkObstacle] { obstacles(name: opening.name) }

    /// The same of the sink `name`.
    func obstacles(name: String) -> [SinkObstacle] {
        access.faults().map { fault in
            let key = Self.key(ofFault: fault.setting)
            return SinkObstacle(key: key, "\(name): \(key): \(fault.message)", exitCode: ExitStatus.config)
        }
    }

    /// Gets a token, where one is needed, and asks the server what it can do. Waits for the answers.
    package func answer(_ opening: SinkOpening) -> [SinkObstacle] {
        let transport = access.makeTransport()
        defer { transport.close() }
        do throws(ServerAccess.Fault) {
            return answer(opening, transport, try access.makeAuthorizer(transport))
        } catch {
            return [SinkObstacle(error.description, exitCode: ExitStatus.config)]
        }
    }

    private func answer(
        _ opening: SinkOpening, _ transport: CurlTransport, _ authorizer: any RequestAuthorizer
    ) -> [SinkObstacle] {
        let authorized = AwaitedValue<Result<String?, AuthorizationFailure>>.waiting {
            authorizer.authorize(completion: $0)
        }
        var headers: [(name: String, value: String)] = [("Accept", "application/fhir+json")]
        switch authorized {
        case .failure(let failure):
            let code = failure.isRetriable ? ExitStatus.unavailable : ExitStatus.noPermission
            return [SinkObstacle(key: "authorization", "\(opening.name): \(failure.message)", exitCode: code)]
        case .success(let value):
            if let value { headers.append(("Authorization", value)) }
        }
        let request = HTTPRequest("GET", base + "/metadata", headers: headers, timeout: access.requestTimeout)
        let reply = AwaitedValue<Result<HTTPResponse, HTTPFailure>>.waiting {
            transport.submit(request, completion: $0)
        }
        switch reply {
        case .failure(let failure):
            return [SinkObstacle("\(opening.name): \(failure.message)", exitCode: ExitStatus.unavailable)]
        case .success(let response): return [judge(response, opening)]
        }
    }

    /// Says what is wrong with the server, or which one it is.
    private func judge(_ response: HTTPResponse, _ opening: SinkOpening) -> SinkObstacle {
        if response.status == 401 || response.status == 403 {
            let what =
                authorization == .none
                ? "the server wants credentials (GET /metadata: \(response.status)), and none are set; say which as "
                    + "authorization"
                : "the server refuses the credentials (GET /metadata: \(response.status)); check them"
            return SinkObstacle(
                key: "authorization", "\(opening.name): \(what)", exitCode: ExitStatus.noPermission)
        }
        let found = response.status == 200 ? ServerCapabilities(JSONNode.answer(response.body)) : nil
        guard let found else {
            return SinkObstacle(
                ServerProbe.unfitness(of: response, base),
                exitCode: response.status >= 500 ? ExitStatus.unavailable : ExitStatus.config)
        }
        if let refusal = found.refusal(of: opening.output.version, base: base) {
            return SinkObstacle(refusal, exitCode: ExitStatus.config)
        }
        if emptied == .delete, let refusal = found.refusalToDelete(base: base) {
            return SinkObstacle(key: "emptied", refusal, exitCode: ExitStatus.config)
        }
        let software = found.software.isEmpty ? "" : ", \(found.software)"
        return SinkObstacle("\(base) answers: FHIR \(found.version)\(software)", exitCode: 0)
    }
}
