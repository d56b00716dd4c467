-- A database of revision showandtell_0004: that of showandtell_0003 with a pin, a tag and the columns of its files.
BEGIN TRANSACTION;
CREATE TABLE "showandtell_aliases" (
	owner TEXT NOT NULL, 
	alias TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	CONSTRAINT pk_aliases PRIMARY KEY (owner, alias), 
	CONSTRAINT fk_aliases_conversation_id FOREIGN KEY(conversation_id) REFERENCES "showandtell_conversations" (id) ON DELETE CASCADE
);
INSERT INTO "showandtell_aliases" VALUES('ann','a-chat-of-a-client','conv_XM6MmNDze3NoTBCmmYJCh6');
CREATE TABLE "showandtell_attachments" (
	id TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	sha256 TEXT, 
	address TEXT, 
	state TEXT NOT NULL, 
	record TEXT NOT NULL, words TEXT, media_type TEXT, date TEXT, size BIGINT, 
	CONSTRAINT pk_attachments PRIMARY KEY (id), 
	CONSTRAINT fk_attachments_conversation_id FOREIGN KEY(conversation_id) REFERENCES "showandtell_conversations" (id) ON DELETE CASCADE, 
	CONSTRAINT fk_attachments_owner FOREIGN KEY(owner, sha256) REFERENCES "showandtell_blobs" (owner, sha256), 
	CONSTRAINT uq_attachments_conversation_id_number UNIQUE (conversation_id, number)
);
INSERT INTO "showandtell_attachments" VALUES('att_fTreESlLMWdULSIRSPBJPA','conv_XM6MmNDze3NoTBCmmYJCh6','ann',1,'a27fa2bacd5796b82680016a6b8865a616a9e4f6b6a198d3776ddc07536e3158',NULL,'ready','{"id":"att_fTreESlLMWdULSIRSPBJPA","number":1,"name":"plan.txt","origin":{"by":"user","tool":null,"call_id":null},"date":"2026-11-22","facts":{"sha256":"a27fa2bacd5796b82680016a6b8865a616a9e4f6b6a198d3776ddc07536e3158","media_type":"text/plain","size":6,"pixels":null,"pages":null,"seconds":null,"frames":null},"address":null,"problem":null,"description":null,"corrected":null,"claimed":null,"state":"ready"}','plan.txt ','text/plain','2026-11-22',6);
INSERT INTO "showandtell_attachments" VALUES('att_JpalTuCiZtS8KlVqvwYCpx','conv_XM6MmNDze3NoTBCmmYJCh6','ann',2,'d6e21286621a8586f7e54720ab5a39c93acc2f4b8fba7a16ec1c24d69a08c613',NULL,'ready','{"id":"att_JpalTuCiZtS8KlVqvwYCpx","number":2,"name":"house.txt","origin":{"by":"tool","tool":"draw","call_id":"call_1"},"date":"2026-11-22","facts":{"sha256":"d6e21286621a8586f7e54720ab5a39c93acc2f4b8fba7a16ec1c24d69a08c613","media_type":"text/plain","size":5,"pixels":null,"pages":null,"seconds":null,"frames":null},"address":null,"problem":null,"description":null,"corrected":null,"claimed":null,"state":"ready"}','house.txt ','text/plain','2026-11-22',5);
CREATE TABLE "showandtell_blobs" (
	owner TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	size BIGINT NOT NULL, 
	state TEXT NOT NULL, 
	touched DOUBLE NOT NULL, 
	pins INTEGER NOT NULL, 
	CONSTRAINT pk_blobs PRIMARY KEY (owner, sha256)
);
INSERT INTO "showandtell_blobs" VALUES('ann','a27fa2bacd5796b82680016a6b8865a616a9e4f6b6a198d3776ddc07536e3158',6,'ready',1700000000.0,0);
INSERT INTO "showandtell_blobs" VALUES('ann','d6e21286621a8586f7e54720ab5a39c93acc2f4b8fba7a16ec1c24d69a08c613',5,'ready',1700000000.0,0);
CREATE TABLE "showandtell_conversations" (
	id TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	title TEXT NOT NULL, 
	head TEXT, 
	next_seq INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	created DOUBLE NOT NULL, 
	changed DOUBLE NOT NULL, 
	lease_holder TEXT, 
	lease_token TEXT, 
	lease_until DOUBLE, metadata TEXT, settings TEXT, pinned DOUBLE, archived DOUBLE, 
	CONSTRAINT pk_conversations PRIMARY KEY (id)
);
INSERT INTO "showandtell_conversations" VALUES('conv_XM6MmNDze3NoTBCmmYJCh6','ann','Draw a house','msg_8Fr17-T7RRFqVyPC2-7c4I',4,4,1700000000.0,1700000000.0,NULL,NULL,NULL,'{"chat":123}','{"instructions":"Draw in blue."}',1700000000.0,1700000001.0);
CREATE TABLE "showandtell_derivations" (
	owner TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	source TEXT NOT NULL, 
	recipe TEXT NOT NULL, 
	CONSTRAINT pk_derivations PRIMARY KEY (owner, sha256, source, recipe), 
	CONSTRAINT fk_derivations_owner FOREIGN KEY(owner, sha256) REFERENCES "showandtell_blobs" (owner, sha256), 
	CONSTRAINT fk_derivations_source FOREIGN KEY(owner, source) REFERENCES "showandtell_blobs" (owner, sha256) ON DELETE CASCADE
);
CREATE TABLE "showandtell_intents" (
	conversation_id TEXT NOT NULL, 
	call_id TEXT NOT NULL, 
	started DOUBLE NOT NULL, 
	CONSTRAINT pk_intents PRIMARY KEY (conversation_id, call_id), 
	CONSTRAINT fk_intents_conversation_id FOREIGN KEY(conversation_id) REFERENCES "showandtell_conversations" (id) ON DELETE CASCADE
);
INSERT INTO "showandtell_intents" VALUES('conv_XM6MmNDze3NoTBCmmYJCh6','"call_2"',1700000000.0);
CREATE TABLE "showandtell_known" (
	owner TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	recipe TEXT NOT NULL, 
	at TEXT NOT NULL, 
	record TEXT NOT NULL, 
	CONSTRAINT pk_known PRIMARY KEY (owner, sha256, recipe, at)
);
INSERT INTO "showandtell_known" VALUES('ann','a27fa2bacd5796b82680016a6b8865a616a9e4f6b6a198d3776ddc07536e3158','upload','openai:k','{"variant":{"files":[],"text":null,"file_id":"file-1","scale":1.0,"url":null,"expires":null,"pages":[],"times":[],"total":null,"cut":false},"failed":null}');
CREATE TABLE "showandtell_login_codes" (
	sha256 TEXT NOT NULL, 
	created DOUBLE NOT NULL, 
	until DOUBLE, 
	CONSTRAINT pk_login_codes PRIMARY KEY (sha256)
);
INSERT INTO "showandtell_login_codes" VALUES('0000000000000000000000000000000000000000000000000000000000000000',1700000000.0,NULL);
CREATE TABLE "showandtell_messages" (
	conversation_id TEXT NOT NULL, 
	seq INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	parent_id TEXT, 
	created DOUBLE NOT NULL, 
	record TEXT NOT NULL, 
	step TEXT, 
	CONSTRAINT pk_messages PRIMARY KEY (id), 
	CONSTRAINT fk_messages_conversation_id FOREIGN KEY(conversation_id) REFERENCES "showandtell_conversations" (id) ON DELETE CASCADE, 
	CONSTRAINT uq_messages_conversation_id_seq UNIQUE (conversation_id, seq)
);
INSERT INTO "showandtell_messages" VALUES('conv_XM6MmNDze3NoTBCmmYJCh6',1,'msg_bXB2S5L2FoOa_-4IijgUov',NULL,1700000000.0,'{"id":"msg_bXB2S5L2FoOa_-4IijgUov","role":"user","parts":[{"type":"text","text":"Draw a house","audience":"both"},{"type":"file","number":1,"attachment_id":"att_fTreESlLMWdULSIRSPBJPA","view":null}],"call_id":null,"tool":null,"is_error":false,"stop":null,"parent_id":null,"references":[]}',NULL);
INSERT INTO "showandtell_messages" VALUES('conv_XM6MmNDze3NoTBCmmYJCh6',2,'msg_YSjXPwO2Q03Nol_j0c6nrs','msg_bXB2S5L2FoOa_-4IijgUov',1700000000.0,'{"id":"msg_YSjXPwO2Q03Nol_j0c6nrs","role":"assistant","parts":[{"type":"tool_call","call_id":"call_1","tool":"draw","arguments":"{\"what\": \"a house\"}","opaque":null},{"type":"tool_call","call_id":"call_2","tool":"draw","arguments":"{}","opaque":null}],"call_id":null,"tool":null,"is_error":false,"stop":"tool_calls","parent_id":"msg_bXB2S5L2FoOa_-4IijgUov","references":[]}','{}');
INSERT INTO "showandtell_messages" VALUES('conv_XM6MmNDze3NoTBCmmYJCh6',3,'msg__oXlGHAfDIBDsOms2VLnyd','msg_YSjXPwO2Q03Nol_j0c6nrs',1700000000.0,'{"id":"msg__oXlGHAfDIBDsOms2VLnyd","role":"tool","parts":[{"type":"text","text":"drawn","audience":"both"},{"type":"file","number":2,"attachment_id":"att_JpalTuCiZtS8KlVqvwYCpx","view":null}],"call_id":"call_1","tool":"draw","is_error":false,"stop":null,"parent_id":"msg_YSjXPwO2Q03Nol_j0c6nrs","references":[]}',NULL);
INSERT INTO "showandtell_messages" VALUES('conv_XM6MmNDze3NoTBCmmYJCh6',4,'msg_8Fr17-T7RRFqVyPC2-7c4I','msg__oXlGHAfDIBDsOms2VLnyd',1700000000.0,'{"id":"msg_8Fr17-T7RRFqVyPC2-7c4I","role":"assistant","parts":[{"type":"text","text":"There it is.","audience":"both"}],"call_id":null,"tool":null,"is_error":false,"stop":"end","parent_id":"msg__oXlGHAfDIBDsOms2VLnyd","references":[]}','{}');
CREATE TABLE "showandtell_preferences" (
	owner TEXT NOT NULL, 
	record TEXT NOT NULL, 
	CONSTRAINT pk_preferences PRIMARY KEY (owner)
);
INSERT INTO "showandtell_preferences" VALUES('ann','{"theme":"dark"}');
CREATE TABLE showandtell_provider_keys (
	owner TEXT NOT NULL, 
	provider TEXT NOT NULL, 
	encrypted TEXT NOT NULL, 
	changed DOUBLE NOT NULL, 
	CONSTRAINT pk_showandtell_provider_keys PRIMARY KEY (owner, provider)
);
INSERT INTO "showandtell_provider_keys" VALUES('','openai','00',1764200000.0);
CREATE TABLE "showandtell_run_log" (
	run_id TEXT NOT NULL, 
	seq INTEGER NOT NULL, 
	data TEXT NOT NULL, 
	CONSTRAINT pk_run_log PRIMARY KEY (run_id, seq), 
	CONSTRAINT fk_run_log_run_id FOREIGN KEY(run_id) REFERENCES "showandtell_runs" (id) ON DELETE CASCADE
);
INSERT INTO "showandtell_run_log" VALUES('run_0123456789abcdefABCDEF',1,'data: {"type":"start"}

');
CREATE TABLE "showandtell_runs" (
	id TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	client_id TEXT, 
	message_id TEXT, 
	"before" TEXT, 
	model TEXT NOT NULL, 
	state TEXT NOT NULL, 
	stop INTEGER NOT NULL, 
	worker TEXT NOT NULL, 
	beat DOUBLE NOT NULL, 
	tries INTEGER NOT NULL, 
	created DOUBLE NOT NULL, 
	ended DOUBLE, 
	status TEXT, 
	reason TEXT, settings TEXT, 
	CONSTRAINT pk_runs PRIMARY KEY (id), 
	CONSTRAINT fk_runs_conversation_id FOREIGN KEY(conversation_id) REFERENCES "showandtell_conversations" (id) ON DELETE CASCADE, 
	CONSTRAINT uq_runs_conversation_id_client_id UNIQUE (conversation_id, client_id)
);
INSERT INTO "showandtell_runs" VALUES('run_0123456789abcdefABCDEF','conv_XM6MmNDze3NoTBCmmYJCh6','ann','m1','msg_bXB2S5L2FoOa_-4IijgUov',NULL,'inspector','ended',0,'elsewhere/1/2',1700000000.0,0,1700000000.0,1700000000.0,'complete',NULL,NULL);
INSERT INTO "showandtell_runs" VALUES('run_0123456789abcdefABCDE2','conv_XM6MmNDze3NoTBCmmYJCh6','ann','m2','msg_bXB2S5L2FoOa_-4IijgUov',NULL,'inspector','ended',0,'elsewhere/1/2',1700000000.0,0,1700000000.0,1700000000.0,'complete',NULL,'{"instructions":"Answer in rhymes.","limits":{"steps":20,"tokens":null,"seconds":900.0},"model_settings":{"temperature":null,"max_tokens":null,"tool_choice":"auto","reasoning_effort":null,"extra_body":null,"stream":true}}');
CREATE TABLE "showandtell_server_settings" (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT pk_server_settings PRIMARY KEY (name)
);
INSERT INTO "showandtell_server_settings" VALUES('token_generation','1');
CREATE TABLE "showandtell_sessions" (
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	created DOUBLE NOT NULL, 
	seen DOUBLE NOT NULL, 
	ended DOUBLE, 
	issuer_session TEXT, 
	refresh_token TEXT, 
	confirmed_until DOUBLE, 
	CONSTRAINT pk_sessions PRIMARY KEY (id)
);
INSERT INTO "showandtell_sessions" VALUES('ses_0123456789abcdefABCDEF','ann',1700000000.0,1700000000.0,NULL,NULL,NULL,NULL);
CREATE TABLE "showandtell_shares" (
	conversation_id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	access TEXT NOT NULL, 
	CONSTRAINT pk_shares PRIMARY KEY (conversation_id, user_id), 
	CONSTRAINT fk_shares_conversation_id FOREIGN KEY(conversation_id) REFERENCES "showandtell_conversations" (id) ON DELETE CASCADE
);
INSERT INTO "showandtell_shares" VALUES('conv_XM6MmNDze3NoTBCmmYJCh6','bob','reader');
CREATE TABLE showandtell_tags (
	conversation_id TEXT NOT NULL, 
	tag TEXT NOT NULL, 
	CONSTRAINT pk_showandtell_tags PRIMARY KEY (conversation_id, tag), 
	CONSTRAINT fk_showandtell_tags_conversation_id FOREIGN KEY(conversation_id) REFERENCES showandtell_conversations (id) ON DELETE CASCADE
);
INSERT INTO "showandtell_tags" VALUES('conv_XM6MmNDze3NoTBCmmYJCh6','houses');
CREATE TABLE "showandtell_uploads" (
	id TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	created DOUBLE NOT NULL, 
	record TEXT NOT NULL, 
	CONSTRAINT pk_uploads PRIMARY KEY (id), 
	CONSTRAINT fk_uploads_owner FOREIGN KEY(owner, sha256) REFERENCES "showandtell_blobs" (owner, sha256)
);
CREATE TABLE "showandtell_users" (
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	seen DOUBLE NOT NULL, is_admin INTEGER, 
	CONSTRAINT pk_users PRIMARY KEY (id)
);
INSERT INTO "showandtell_users" VALUES('ann','Ann',1700000000.0,1);
CREATE TABLE showandtell_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT showandtell_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "showandtell_version" VALUES('showandtell_0004');
CREATE INDEX "ix_showandtell_conversations_owner_changed" ON "showandtell_conversations" (owner, changed);
CREATE INDEX "ix_showandtell_attachments_owner_sha256" ON "showandtell_attachments" (owner, sha256);
CREATE INDEX "ix_showandtell_attachments_owner_address" ON "showandtell_attachments" (owner, address);
CREATE INDEX "ix_showandtell_derivations_owner_source" ON "showandtell_derivations" (owner, source);
CREATE INDEX "ix_showandtell_aliases_conversation_id" ON "showandtell_aliases" (conversation_id);
CREATE INDEX "ix_showandtell_uploads_owner_sha256" ON "showandtell_uploads" (owner, sha256);
CREATE INDEX "ix_showandtell_uploads_created" ON "showandtell_uploads" (created);
CREATE INDEX "ix_showandtell_runs_ended" ON "showandtell_runs" (ended);
CREATE UNIQUE INDEX "ix_showandtell_runs_running" ON "showandtell_runs" (conversation_id) WHERE state = 'running';
CREATE INDEX "ix_showandtell_sessions_user_id" ON "showandtell_sessions" (user_id);
CREATE INDEX "ix_showandtell_sessions_issuer_session" ON "showandtell_sessions" (issuer_session);
CREATE INDEX "ix_showandtell_sessions_seen" ON "showandtell_sessions" (seen);
CREATE INDEX ix_showandtell_attachments_owner_date_conversation_id_number ON showandtell_attachments (owner, date, conversation_id, number);
CREATE INDEX ix_showandtell_attachments_owner_size_id ON showandtell_attachments (owner, size, id);
COMMIT;
