extension PipelineError {
    init(_ error: StoreError) {
        message = error.message
        exitCode =
            switch error.kind {
            case .permission: ExitStatus.noPermission
            case .inUse, .unusable, .full: ExitStatus.cannotCreate
            case .tooNew, .mappings: ExitStatus.config
            case .syncFailed, .damaged: ExitStatus.ioError
            }
    }
}
