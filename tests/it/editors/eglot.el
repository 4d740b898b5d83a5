;; Eglot 1.9 as the poor client: no resolve, no progress, no documents of others, one way to count characters.
;; What was seen is printed as one object.
(dolist (directory (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa/*"))
  (add-to-list 'load-path directory))
(require 'eglot)
(require 'json)

(defvar ssr-mcp-patience 600)
(defvar ssr-mcp-seen nil)
(defvar ssr-mcp-said nil "What the server said in message boxes, the last first.")

(defun ssr-mcp-see (key value)
  (push (cons key value) ssr-mcp-seen))

(defun ssr-mcp-await (what holds)
  "Handle messages until HOLDS gives something, which is returned."
  (let ((deadline (+ (float-time) ssr-mcp-patience)) got)
    (while (and (not (setq got (funcall holds))) (< (float-time) deadline))
      (accept-process-output nil 0.05))
    (or got (error "%s did not come; said: %S" what ssr-mcp-said))))

(cl-defmethod eglot-handle-notification :before
  (_server (_method (eql window/showMessage)) &key message &allow-other-keys)
  (push message ssr-mcp-said))

(defun ssr-mcp-action (title)
  "The action at point whose title has TITLE in it, once there is one."
  (ssr-mcp-await
   title
   (lambda ()
     (seq-find (lambda (action) (string-match-p (regexp-quote title) (plist-get action :title)))
               (eglot-code-actions (point) (point))))))

(defun ssr-mcp-run (action)
  "Run the command of ACTION; the answer."
  (let ((command (plist-get action :command)))
    (eglot-execute-command (eglot-current-server) (intern (plist-get command :command))
                           (plist-get command :arguments))))

(defun ssr-mcp-said-p (pattern)
  (seq-find (lambda (text) (string-match-p pattern text)) ssr-mcp-said))

(add-to-list 'eglot-server-programs `(python-mode . (,(getenv "SSR_MCP_BINARY") "lsp")))
(setq eglot-sync-connect 60
      eglot-connect-timeout 60
      eglot-confirm-server-initiated-edits nil
      make-backup-files nil
      create-lockfiles nil)

(find-file (expand-file-name "ledger/money.py" (getenv "SSR_MCP_REPO")))
(apply #'eglot--connect (eglot--guess-contact))
(ssr-mcp-see 'server (plist-get (eglot--server-info (eglot-current-server)) :name))
(ssr-mcp-see 'titles
             (vconcat (mapcar (lambda (action) (plist-get action :title))
                              (progn (ssr-mcp-action "inject a bug into this file")
                                     (eglot-code-actions (point) (point))))))

;; A job: answered at once, told in a message box at its end.
(let ((inject (copy-tree (ssr-mcp-action "inject a bug into this workspace"))))
  (plist-put (aref (plist-get (plist-get inject :command) :arguments) 0) :seed 3)
  (ssr-mcp-see 'state (plist-get (ssr-mcp-run inject) :state)))
(ssr-mcp-see 'told (ssr-mcp-await "the end of the job" (lambda () (ssr-mcp-said-p "is real"))))

;; What it made, and an edit.
(let* ((answer (eglot-execute-command (eglot-current-server) 'ssrMcp.bugs
                                      (vector (list :folder (directory-file-name (getenv "SSR_MCP_REPO"))))))
       (bug (aref (plist-get answer :bugs) 0))
       (place (aref (plist-get bug :places) 0))
       (short (substring (plist-get bug :artifact) 0 12)))
  (find-file (expand-file-name (plist-get place :file) (getenv "SSR_MCP_REPO")))
  (eglot--maybe-activate-editing-mode)
  (let ((before (buffer-string)))
    (goto-char (point-min))
    (forward-line (1- (plist-get place :line)))
    (eglot--apply-workspace-edit (plist-get (ssr-mcp-action (format "put bug %s" short)) :edit))
    (ssr-mcp-see 'changed (if (equal before (buffer-string)) :json-false t))
    ;; A diff goes into a message box where there is nothing better. This Eglot reads what comes with an
    ;; answer only when something else comes.
    (ssr-mcp-run (ssr-mcp-action (format "show bug %s" short)))
    (ssr-mcp-see 'shown (ssr-mcp-await "the diff"
                                       (lambda ()
                                         (or (ssr-mcp-said-p "^diff --git")
                                             (ignore (eglot-code-actions (point) (point)))))))
    (goto-char (point-min))
    (forward-line (1- (plist-get place :line)))
    (eglot--apply-workspace-edit (plist-get (ssr-mcp-action (format "take bug %s out again" short)) :edit))
    (ssr-mcp-see 'restored (if (equal before (buffer-string)) t :json-false)))
  (set-buffer-modified-p nil))

;; What is no command of the server's is refused, and the server goes on.
(ssr-mcp-see 'refused
             (condition-case problem
                 (eglot-execute-command (eglot-current-server) 'ssrMcp.nonsense [])
               (error (format "%S" problem))))
(ssr-mcp-see 'framework
             (plist-get (eglot-execute-command (eglot-current-server) 'ssrMcp.status (vector (make-hash-table)))
                        :framework))

(let ((process (jsonrpc--process (eglot-current-server))))
  (eglot-shutdown-all)
  (ssr-mcp-see 'gone (if (process-live-p process) :json-false t)))
(princ (json-encode ssr-mcp-seen))
(terpri)
